import { compareTexts, isSameManager, ManagerEntry } from "./manager-entry.ts";

export const updateManagersMax = 10;
const ancientManager = "ancient-changes";

/** Merges the oldest Update entries of each version into one while there are more than `updateManagersMax`. */
export function capManagers(entries: readonly ManagerEntry[]): readonly ManagerEntry[] {
  const updaters = entries.filter(({ operation }) => operation === "Update");
  if (updaters.length <= updateManagersMax) return entries;
  updaters.sort((a, b) => compareTexts(a.time, b.time) || compareTexts(a.manager, b.manager));
  const kept = new Set(entries);
  const buckets = new Map<string, ManagerEntry>();
  let count = updaters.length;
  for (const updater of updaters) {
    if (count <= updateManagersMax) break;
    const first = buckets.get(updater.apiVersion);
    if (first === undefined) {
      buckets.set(updater.apiVersion, updater);
      continue;
    }
    const bucket = mergeInto(first, updater);
    for (const entry of [first, updater]) kept.delete(entry);
    // An entry of an earlier capping is the same bucket, wherever it stands in the order.
    const earlier = [...kept].find((entry) => isSameManager(entry, bucket));
    if (earlier !== undefined) kept.delete(earlier);
    const merged = earlier === undefined ? bucket : mergeInto(earlier, bucket);
    kept.add(merged);
    buckets.set(updater.apiVersion, merged);
    count -= earlier === undefined ? 1 : 2;
  }
  return [...kept];
}

function mergeInto(older: ManagerEntry, newer: ManagerEntry): ManagerEntry {
  const { apiVersion, time } = newer;
  const identity = { manager: ancientManager, operation: "Update", apiVersion, subresource: "" } as const;
  return new ManagerEntry(identity, time, older.set.union(newer.set));
}
