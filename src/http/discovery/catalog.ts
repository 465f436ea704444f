import type { GroupVersion } from "../../api/gvk.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";

export interface ServedGroup {
  /** Empty for the core group. */
  readonly group: string;
  /** Preferred version first. */
  readonly versions: readonly string[];
}

/** What discovery and OpenAPI need to know of the served types. */
export interface Catalog {
  /** By falling priority, then by name: clients resolve ambiguous kinds in this order. */
  groups(): readonly ServedGroup[];
  /** Empty when the group version is not served. */
  resources(groupVersion: GroupVersion): readonly ResourceInfo[];
  /** Changes whenever an answer of the two others would change. */
  generation(): number;
}
