import type { KubeObject } from "../api/object-meta.ts";

/** Objects of a kind that is never stored: they are computed when they are read. */
export interface ComputedObjects {
  /** Lists the objects in order of their names. */
  list(): readonly KubeObject[];
}
