import { isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import type { ManagedFieldsEntry } from "../api/object-meta.ts";
import { capManagers } from "./cap-managers.ts";
import { changeHands, differenceIn, reconcileEntries } from "./change-hands.ts";
import type { Difference } from "./compare-values.ts";
import { encodeEntriesInSteps, entriesToUpdate } from "./managed-fields.ts";
import { isSameManager, ManagerEntry, type ManagerIdentity } from "./manager-entry.ts";
import { objectText } from "./object-text.ts";
import { TrackingError } from "./tracking-error.ts";
import { typeError } from "./type-errors.ts";
import { withoutUntracked } from "./untracked-fields.ts";
import { inPauses, pause, type Steps, type TrackedVersion, type VersionFinder } from "./versions.ts";

/** Any write but an apply. All documents are in the version of the write. */
export interface TrackedUpdate {
  /** The stored object; undefined for a creation. */
  readonly live: JsonObject | undefined;
  /** The object as it will be stored. Its own managedFields do not count. */
  readonly object: JsonObject;
  /** `metadata.managedFields` as the client sent it. */
  readonly sent: JsonValue | undefined;
  readonly manager: string;
  /** "" for the object itself. */
  readonly subresource: string;
  readonly version: TrackedVersion;
  readonly find: VersionFinder;
  /** RFC 3339 in UTC, whole seconds. */
  readonly now: string;
}

/**
 * Returns the managedFields after a write: its manager owns the fields that it added or changed, and removed fields
 * have no owner. Undefined for none. Changes neither object.
 * @throws TrackingError if fields cannot be tracked; the object is then stored without managedFields
 */
export function* trackUpdate(update: TrackedUpdate): Steps<ManagedFieldsEntry[] | undefined> {
  const { live, sent, subresource } = update;
  const entries = yield* inPauses(entriesToUpdate(live, subresource === "" ? sent : undefined));
  // An object without managedFields gets them with its first apply.
  if (entries.length === 0 && live !== undefined && hasUid(live)) return undefined;
  yield pause;
  const updated = yield* updateEntries(entries, update);
  yield pause;
  return yield* encodeEntriesInSteps(capManagers(updated));
}

/**
 * Returns the managedFields of a new object whose client sent none, as most do. There is nothing to convert.
 * @throws TrackingError if fields cannot be tracked; the object is then stored without managedFields
 */
export function* trackCreation(
  creation: Pick<TrackedUpdate, "object" | "manager" | "subresource" | "version" | "now">,
): Steps<ManagedFieldsEntry[] | undefined> {
  const { object, version, now } = creation;
  check("new", object, version);
  const fields = withoutUntracked(differenceIn(version, version.empty, object).changed);
  yield pause;
  if (fields.isEmpty) return undefined;
  return yield* encodeEntriesInSteps([new ManagerEntry(writerOf(creation), now, fields)]);
}

function hasUid(object: JsonObject): boolean {
  const metadata = object["metadata"];
  return isJsonObject(metadata) && metadata["uid"] !== undefined && metadata["uid"] !== "";
}

/** The entries after a write, not capped yet. @throws TrackingError */
export function* updateEntries(
  entries: readonly ManagerEntry[],
  update: Omit<TrackedUpdate, "sent">,
): Steps<readonly ManagerEntry[]> {
  const { version, find } = update;
  const live = withoutManagedFields(update.live ?? version.empty);
  const fresh = withoutManagedFields(update.object);
  check("new", fresh, version);
  check("live", live, version);
  try {
    const reconciled = yield* reconcileEntries(entries, live, version, find);
    yield pause;
    const writer = writerOf(update);
    const { others, difference } = yield* changeHands(reconciled, { live, fresh, version, find }, writer);
    yield pause;
    const known = reconciled.find((entry) => isSameManager(entry, writer));
    const own = entryOfWriter(writer, known, difference, update.now);
    return own.fields.isEmpty ? others : [...others, own];
  } catch (error) {
    if (!(error instanceof TrackingError)) throw error;
    // A decoded object can still have list items without a key, which its type refuses first.
    check("new", fresh, { ...version, isDecoded: false });
    check("live", live, { ...version, isDecoded: false });
    throw new TrackingError(`failed to update ManagedFields (${objectText(fresh)}): ${error.message}`);
  }
}

function writerOf({
  manager,
  version,
  subresource,
}: Pick<TrackedUpdate, "manager" | "version" | "subresource">): ManagerIdentity {
  return {
    manager: manager === "" ? "unknown" : manager,
    operation: "Update",
    apiVersion: version.apiVersion,
    subresource,
  };
}

/**
 * The entry of the writer after a write, which has no fields when it owns none. Fields that it owned before and owns now
 * stay the set that they were, whose document and text are known.
 */
function entryOfWriter(
  writer: ManagerIdentity,
  known: ManagerEntry | undefined,
  { changed, removed }: Difference,
  now: string,
): ManagerEntry {
  const taken = withoutUntracked(changed);
  if (known === undefined) return new ManagerEntry(writer, now, taken);
  return known.with(known.fields.difference(removed).union(taken), taken.isEmpty ? known.time : now);
}

function check(which: "new" | "live", object: JsonObject, { type, isDecoded }: TrackedVersion): void {
  const problem = isDecoded ? undefined : typeError(object, type, { allowsDuplicates: true });
  if (problem === undefined) return;
  throw new TrackingError(`failed to convert ${which} object (${objectText(object)}) to smd typed: ${problem}`);
}

/** The object without its managedFields. Shares everything else. */
export function withoutManagedFields(object: JsonObject): JsonObject {
  const metadata = object["metadata"];
  if (!isJsonObject(metadata) || metadata["managedFields"] === undefined) return object;
  const { managedFields: _, ...others } = metadata;
  return { ...object, metadata: others };
}
