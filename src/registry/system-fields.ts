import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";

/** Metadata that the server alone sets, and that a new object comes without. */
const systemFields = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "selfLink",
] satisfies (keyof ObjectMeta | "selfLink")[];

/** Removes from a new object what only the server sets. */
export function wipeSystemFields({ metadata }: KubeObject): void {
  for (const name of systemFields) delete (metadata as Record<string, unknown>)[name];
}

/** Metadata that an update takes from the stored object, whatever it says itself. */
const carriedFields = ["creationTimestamp", "generation", "resourceVersion"] as const;

/**
 * Takes over what a writer cannot change from the stored object. Another uid, and a deletion that has not begun, are
 * mistakes for validation to report.
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
  metadata["deletionGracePeriodSeconds"] ??= stored["deletionGracePeriodSeconds"];
  if (metadata["deletionGracePeriodSeconds"] === undefined) delete metadata["deletionGracePeriodSeconds"];
}

export function setManagedFields({ metadata }: KubeObject, entries: ObjectMeta["managedFields"]): void {
  if (entries === undefined) delete metadata.managedFields;
  else metadata.managedFields = entries;
}
