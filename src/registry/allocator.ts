import type { KubeObject } from "../api/object-meta.ts";
import type { SettleListener } from "./settlement.ts";

/** An attempt to write an object that needs something unique. */
export interface AllocationAttempt {
  readonly dryRun: boolean;
  /** Registers a listener that confirms or releases the claims of the attempt. */
  onSettled(listener: SettleListener): void;
}

/**
 * Gives objects of one resource values that must be unique among them, such as addresses and ports of Services. Runs
 * before validation, which sees the values.
 */
export interface Allocator {
  /**
   * Changes `object`.
   * @throws StatusError when a requested value is taken or does not exist
   */
  beforeCreate(object: KubeObject, attempt: AllocationAttempt): Promise<void>;
  /**
   * Changes `object`.
   * @throws StatusError when a requested value is taken or does not exist
   */
  beforeUpdate(object: KubeObject, old: KubeObject, attempt: AllocationAttempt): Promise<void>;
  /** Releases the values of an object that has been removed from the store. */
  afterDelete(object: KubeObject): Promise<void>;
}
