import type { FieldError } from "../api/field-error.ts";
import type { KubeObject } from "../api/object-meta.ts";

/** A write, as far as rules about it see it. */
export interface RuledWrite {
  readonly object: KubeObject;
  /** The stored object; undefined for a new object. */
  readonly old: KubeObject | undefined;
  readonly namespace: string;
  /** "" for the object itself. */
  readonly subresource: string;
}

/** Returns the problems of a write that depend on other objects than the written one. */
export type WriteRule = (write: RuledWrite) => readonly FieldError[];
