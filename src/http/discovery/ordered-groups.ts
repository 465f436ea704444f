import type { GroupVersion } from "../../api/gvk.ts";
import { compareVersions } from "../../api/version-order.ts";
import type { CatalogGroup } from "../../registry/catalog.ts";
import { compare } from "./api-resource-list.ts";

/** The place of a group version in discovery. */
export interface Priorities {
  /** The higher, the earlier. The highest of its versions counts for a group. */
  readonly groupPriority: number;
  /** The higher, the earlier in its group. */
  readonly versionPriority: number;
}

export interface RankedVersion extends GroupVersion, Priorities {}

/**
 * Orders group versions as clients look for a kind.
 * @param tieOf text that decides between groups of the same priority: upstream compares the names of groups in one form of
 * discovery and the names of APIServices in the other
 */
export function orderedGroups(
  versions: Iterable<RankedVersion>,
  tieOf: (first: RankedVersion) => string,
): CatalogGroup[] {
  const sorted = [...versions].sort(
    (a, b) => b.groupPriority - a.groupPriority || compare(tieOf(a), tieOf(b)) || compareVersions(a.version, b.version),
  );
  return [...Map.groupBy(sorted, ({ group }) => group)].map(([group, of]) => ({
    group,
    versions: of
      .toSorted((a, b) => b.versionPriority - a.versionPriority || compareVersions(a.version, b.version))
      .map(({ version }) => version),
  }));
}
