import { identityText, isSameManager, ManagerEntry, type ManagerIdentity } from "./manager-entry.ts";
import { compareTexts } from "./text-order.ts";

export const updateManagersMax = 10;
const ancientManager = "ancient-changes";

/** Unites the oldest Update entries of each version while there are more than `updateManagersMax`. */
export function capManagers(entries: readonly ManagerEntry[]): readonly ManagerEntry[] {
  const updaters = entries.filter(({ operation }) => operation === "Update");
  if (updaters.length <= updateManagersMax) return entries;
  updaters.sort((a, b) => compareTexts(a.time, b.time) || compareTexts(identityText(a), identityText(b)));
  const firsts = new Map<string, ManagerEntry>();
  let kept = [...entries];
  let count = updaters.length;
  for (const updater of updaters) {
    if (count <= updateManagersMax) break;
    const first = firsts.get(updater.apiVersion);
    if (first === undefined) {
      firsts.set(updater.apiVersion, updater);
      continue;
    }
    const bucket = bucketOf(updater.apiVersion);
    const current = kept.find((entry) => isSameManager(entry, bucket));
    if (current === undefined) kept = without(kept, first);
    const fields = (current ?? first).fields.union(updater.fields);
    kept = without(without(kept, bucket), updater);
    // As upstream has it, a bucket that meets itself here is lost with its fields.
    if (!isSameManager(updater, bucket)) kept.push(new ManagerEntry(bucket, updater.time, fields));
    count--;
  }
  return kept;
}

function bucketOf(apiVersion: string): ManagerIdentity {
  return { manager: ancientManager, operation: "Update", apiVersion, subresource: "" };
}

function without(entries: readonly ManagerEntry[], identity: ManagerIdentity): ManagerEntry[] {
  return entries.filter((entry) => !isSameManager(entry, identity));
}
