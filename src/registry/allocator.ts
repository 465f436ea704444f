import type { KubeObject } from "../api/object-meta.ts";
import type { SettleListener } from "./settlement.ts";

/** An attempt to write an object that needs something no two objects may have. */
export interface AllocationAttempt {
  readonly dryRun: boolean;
  /** Confirms or gives back the claims of the attempt. */
  onSettled(listener: SettleListener): void;
}

/**
 * Gives objects of one resource what must be unique among them: addresses and ports of Services. It is asked before
 * validation, which then sees the object with what it was given.
 */
export interface Allocator {
  /** Changes `object`. @throws StatusError when what it asks for is taken or does not exist */
  beforeCreate(object: KubeObject, attempt: AllocationAttempt): Promise<void>;
  /** Changes `object`. @throws StatusError when what it asks for is taken or does not exist */
  beforeUpdate(object: KubeObject, old: KubeObject, attempt: AllocationAttempt): Promise<void>;
  /** The object is gone from the store. */
  afterDelete(object: KubeObject): Promise<void>;
}
