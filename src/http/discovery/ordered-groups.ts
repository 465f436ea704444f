import type { GroupVersion } from "../../api/gvk.ts";
import { compareVersions } from "../../api/version-order.ts";
import type { GroupPriority } from "../../kinds/apiregistration/group-priorities.ts";
import type { CatalogGroup } from "../../registry/catalog.ts";
import { compare } from "./api-resource-list.ts";

/** A group version with its rank in discovery. The highest rank of its versions counts for a group. */
export interface RankedVersion extends GroupVersion {
  readonly priority: GroupPriority;
}

/**
 * Orders group versions as clients search for a kind.
 * @param tieOf text that decides between groups of the same priority: upstream compares the names of groups in one form
 * of discovery and the names of APIServices in the other
 */
export function orderedGroups(
  versions: Iterable<RankedVersion>,
  tieOf: (first: RankedVersion) => string,
): CatalogGroup[] {
  const sorted = [...versions].sort(
    (a, b) =>
      b.priority.group - a.priority.group || compare(tieOf(a), tieOf(b)) || compareVersions(a.version, b.version),
  );
  return [...Map.groupBy(sorted, ({ group }) => group)].map(([group, of]) => ({
    group,
    versions: of
      .toSorted((a, b) => b.priority.version - a.priority.version || compareVersions(a.version, b.version))
      .map(({ version }) => version),
  }));
}
