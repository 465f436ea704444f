import type { GroupVersion } from "../../api/gvk.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { CatalogGroup } from "../../registry/catalog.ts";

/** The part of the catalog that discovery and OpenAPI read. */
export interface ServedTypes {
  /** Groups by decreasing priority, then by name. Clients resolve ambiguous kinds in this order. */
  groups(): readonly CatalogGroup[];
  /** Resources of a group version; none if it is not served. */
  resources(groupVersion: GroupVersion): readonly ResourceInfo[];
  /** A number that changes with the results of the other two. */
  generation(): number;
}
