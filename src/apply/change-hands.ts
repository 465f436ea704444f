import { type JsonObject, shallowCopy } from "../api/json.ts";
import { compareValues, type Difference } from "./compare-values.ts";
import type { Conflict } from "./conflicts.ts";
import { isSameManager, type ManagerEntry, type ManagerIdentity } from "./manager-entry.ts";
import { reconcileFields } from "./reconcile-fields.ts";
import { convertTo, pause, type Steps, type TrackedVersion, type VersionFinder } from "./versions.ts";

/** A write, in the version that it is made in. */
export interface Change {
  readonly live: JsonObject;
  readonly fresh: JsonObject;
  readonly version: TrackedVersion;
  readonly find: VersionFinder;
}

/** The entries besides the writer's own after a write, and the fields that it takes from them. */
export interface ChangedHands {
  readonly others: readonly ManagerEntry[];
  readonly conflicts: readonly Conflict[];
  /** The changes in the version of the write, without fields that it cannot change. */
  readonly difference: Difference;
}

/**
 * Takes from every owner but the writer what the write changes or removes. Fields mean something in their version only,
 * so each entry sees the write in its own. Entries of versions that are not served any more vanish.
 */
export function* changeHands(
  entries: readonly ManagerEntry[],
  change: Change,
  writer: ManagerIdentity | undefined,
): Steps<ChangedHands> {
  const { live, fresh, version } = change;
  const difference = differenceIn(version, live, fresh);
  const byVersion = new Map([[version.apiVersion, difference]]);
  const others: ManagerEntry[] = [];
  const conflicts: Conflict[] = [];
  for (const entry of entries) {
    if (writer !== undefined && isSameManager(entry, writer)) continue;
    yield pause;
    const own = byVersion.get(entry.apiVersion) ?? (yield* otherDifference(entry.apiVersion, change));
    if (own === undefined) continue;
    byVersion.set(entry.apiVersion, own);
    const taken = own.changed.isEmpty ? own.changed : entry.fields.intersection(own.changed);
    if (!taken.isEmpty) conflicts.push({ owner: entry, fields: taken });
    const left = entry.with(entry.fields.difference(taken).difference(own.removed));
    if (!left.fields.isEmpty) others.push(left);
  }
  return { others, conflicts, difference };
}

/** Compares two documents of a version, without fields that the endpoint cannot change. */
export function differenceIn({ type, resetFields }: TrackedVersion, live: JsonObject, fresh: JsonObject): Difference {
  if (resetFields === undefined) return compareValues(live, fresh, type);
  const difference = compareValues(live, withFieldsOf(live, fresh, resetFields.wholeFields), type);
  return { changed: resetFields(difference.changed), removed: resetFields(difference.removed) };
}

/** Returns `fresh` with these fields of `live`, so that nothing below them is compared. */
function withFieldsOf(live: JsonObject, fresh: JsonObject, names: readonly string[]): JsonObject {
  const object = shallowCopy(fresh);
  for (const name of names) {
    const value = live[name];
    if (value === undefined) delete object[name];
    else object[name] = value;
  }
  return object;
}

/** Undefined when the version is not served. */
function* otherDifference(apiVersion: string, change: Change): Steps<Difference | undefined> {
  const to = change.find(apiVersion);
  if (to === undefined) return undefined;
  const live = yield* convertTo(change.live, change.version, to, "failed to convert old object: ");
  const fresh = yield* convertTo(change.fresh, change.version, to, "failed to convert new object: ");
  return differenceIn(to, live, fresh);
}

/** Brings every entry up to date with today's schema. Entries of versions that are not served stay away. */
export function* reconcileEntries(
  entries: readonly ManagerEntry[],
  live: JsonObject,
  version: TrackedVersion,
  find: VersionFinder,
): Steps<readonly ManagerEntry[]> {
  const reconciled: ManagerEntry[] = [];
  const reached = new Set([version.apiVersion]);
  for (const entry of entries) {
    const own = find(entry.apiVersion);
    if (own === undefined) continue;
    // The document is not needed in that version, but the write fails here when it cannot be had.
    if (!reached.has(own.apiVersion)) yield* convertTo(live, version, own);
    reached.add(own.apiVersion);
    yield pause;
    reconciled.push(entry.with(reconcileFields(entry.fields, own.type)));
  }
  return reconciled;
}
