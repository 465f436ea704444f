import type { GroupVersion } from "../../api/gvk.ts";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { CatalogGroup } from "../../registry/catalog.ts";

/** The part of the catalog that discovery and OpenAPI read. */
export interface ServedTypes {
  /** By falling priority, then by name: clients resolve ambiguous kinds in this order. */
  groups(): readonly CatalogGroup[];
  /** Empty when the group version is not served. */
  resources(groupVersion: GroupVersion): readonly ResourceInfo[];
  /** Changes whenever an answer of the two others would change. */
  generation(): number;
}
