import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";

/** Metadata that only the server sets and that is removed from new objects. */
const systemFields = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
] satisfies (keyof ObjectMeta | "selfLink")[];

/** Removes fields from a new object that only the server sets. */
export function wipeSystemFields({ metadata }: KubeObject): void {
  for (const name of systemFields) delete (metadata as Record<string, unknown>)[name];
}

/** Metadata that an update always takes from the stored object. */
const carriedFields = ["creationTimestamp", "generation", "resourceVersion"] as const;

/**
 * Copies fields that a writer cannot change from the stored object. Another uid, or a deletion that has not begun, is
 * left for validation to report.
 */
export function carrySystemFields(object: KubeObject, old: KubeObject): void {
  const metadata = object.metadata as Record<string, unknown>;
  const stored = old.metadata as Record<string, unknown>;
  for (const name of carriedFields) {
    if (stored[name] === undefined) delete metadata[name];
    else metadata[name] = stored[name];
  }
  metadata["uid"] ??= stored["uid"];
  if (stored["deletionTimestamp"] !== undefined) metadata["deletionTimestamp"] = stored["deletionTimestamp"];
  const period = metadata["deletionGracePeriodSeconds"] ?? stored["deletionGracePeriodSeconds"];
  if (period === undefined) delete metadata["deletionGracePeriodSeconds"];
  else metadata["deletionGracePeriodSeconds"] = period;
}

export function setManagedFields({ metadata }: KubeObject, entries: ObjectMeta["managedFields"]): void {
  if (entries === undefined) delete metadata.managedFields;
  else metadata.managedFields = entries;
}
