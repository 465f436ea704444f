import type { KubeObject, ObjectMeta } from "../api/object-meta.ts";

/** Metadata that the server alone sets. */
const systemFields = [
  "uid",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "generation",
  "selfLink",
  "resourceVersion",
] satisfies (keyof ObjectMeta | "selfLink")[];

/** Removes from a new object what only the server sets. */
export function wipeSystemFields({ metadata }: KubeObject): void {
  for (const name of systemFields) if (name !== "resourceVersion") delete (metadata as Record<string, unknown>)[name];
}

/** Takes what a writer cannot change from the stored object. */
export function carrySystemFields(object: KubeObject, old: KubeObject): void {
  const metadata = object.metadata as Record<string, unknown>;
  const stored = old.metadata as Record<string, unknown>;
  for (const name of systemFields) {
    // Another uid than the stored one is a mistake that validation reports.
    if (name === "uid" && metadata[name] !== undefined) continue;
    if (stored[name] === undefined) delete metadata[name];
    else metadata[name] = stored[name];
  }
}

export function setManagedFields({ metadata }: KubeObject, entries: ObjectMeta["managedFields"]): void {
  if (entries === undefined) delete metadata.managedFields;
  else metadata.managedFields = entries;
}
