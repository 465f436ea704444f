import type { KubeObject } from "../api/object-meta.ts";

/** Objects of a kind that is read and never stored: what they say is found out when somebody asks. */
export interface ComputedObjects {
  /** In order of name. */
  list(): readonly KubeObject[];
}
