import { equalJson, type JsonObject } from "../api/json.ts";
import { hasMoreValues, objectValuesMax } from "../api/object-extent.ts";
import type { ManagedFieldsEntry } from "../api/object-meta.ts";
import { status } from "../api/status.ts";
import { capManagers } from "./cap-managers.ts";
import { changeHands, reconcileEntries } from "./change-hands.ts";
import { type Conflict, type ConflictReport, reportConflicts } from "./conflicts.ts";
import { fieldsOf } from "./fields-of.ts";
import { clientSideFields, kubectlManager, withLastApplied } from "./last-applied.ts";
import { encodeEntriesInSteps, managedFieldsOf, storedEntries } from "./managed-fields.ts";
import { isSameManager, ManagerEntry, type ManagerIdentity } from "./manager-entry.ts";
import { mergeValues } from "./merge-values.ts";
import { kindText, objectText } from "./object-text.ts";
import { prune } from "./prune.ts";
import type { Emptied } from "./remove-fields.ts";
import { updateEntries, withoutManagedFields } from "./track-update.ts";
import { TrackingError } from "./tracking-error.ts";
import { typeError } from "./type-errors.ts";
import { withoutUntracked } from "./untracked-fields.ts";
import { pause, type Steps, type TrackedVersion, type VersionFinder } from "./versions.ts";

const beforeFirstApply = "before-first-apply";

/** One apply request. All documents are in the version of the request. */
export interface ObjectApply {
  /** The stored object; undefined when the apply creates it. */
  readonly live: JsonObject | undefined;
  /** The body: the fields that the manager wants to own. */
  readonly applied: JsonObject;
  readonly kind: string;
  readonly manager: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** Takes fields from their owners instead of reporting conflicts. */
  readonly force: boolean;
  readonly version: TrackedVersion;
  readonly find: VersionFinder;
  /** RFC 3339 in UTC, whole seconds. */
  readonly now: string;
  readonly emptied: Emptied;
}

export type ApplyOutcome =
  | {
      readonly kind: "merged";
      /** The object without managedFields, not defaulted nor decoded by its type yet; undefined when it has not changed. */
      readonly object: JsonObject | undefined;
      readonly managedFields: ManagedFieldsEntry[] | undefined;
    }
  | ({ readonly kind: "conflict" } & ConflictReport);

/** The body cannot be applied by this request: the client's mistake (400). */
export class BadApplyError extends Error {}

/**
 * Puts the body over the live object, removes what its manager gives up, and says who owns what then. Changes neither
 * document.
 * @throws BadApplyError
 * @throws TrackingError when the body does not have the form of its kind (500)
 * @throws StatusError 413 when the result has more values than an object may have
 */
export function* applyObject(apply: ObjectApply): Steps<ApplyOutcome> {
  const { applied, version, find, subresource, now } = apply;
  if (applied["apiVersion"] !== version.apiVersion || applied["kind"] !== apply.kind) {
    throw new BadApplyError(`invalid object type: ${kindText(applied)}`);
  }
  const live = withoutManagedFields(apply.live ?? version.empty);
  const stored = storedEntries(apply.live);
  const entries = stored.length > 0 ? stored : yield* firstEntries(live, apply);
  checkDocuments(live, applied, version);
  yield pause;
  const reconciled = yield* reconcileEntries(entries, live, version, find);
  yield pause;
  const identity: ManagerIdentity = {
    manager: apply.manager === "" ? "unknown" : apply.manager,
    operation: "Apply",
    apiVersion: version.apiVersion,
    subresource,
  };
  const last = reconciled.find((entry) => isSameManager(entry, identity));
  const all = fieldsOf(applied, version.type);
  const own = new ManagerEntry(identity, last?.time ?? "", version.resetFields?.(all) ?? all);
  yield pause;
  const fresh = yield* merge(live, apply, { last, own, entries: reconciled });
  yield pause;
  if (hasMoreValues(fresh, objectValuesMax)) throw status.tooManyValues(objectValuesMax);
  const { others, conflicts } = yield* changeHands(reconciled, { live, fresh, version, find }, identity);
  const refused = apply.force ? [] : withoutClientSide(conflicts, live, apply);
  if (refused.length > 0) return { kind: "conflict", ...reportConflicts(refused) };
  yield pause;
  const isChanged = !equalJson(live, fresh);
  const tracked = own.with(withoutUntracked(own.fields), isChanged ? now : own.time);
  const after = apply.manager === kubectlManager ? withLastApplied(fresh, applied) : fresh;
  return {
    kind: "merged",
    object: isChanged || after !== fresh ? after : undefined,
    managedFields: yield* encodeEntriesInSteps(tracked.fields.isEmpty ? others : [...others, tracked]),
  };
}

/** Gives all of an object without a history to the writers before its first apply. */
function* firstEntries(live: JsonObject, apply: ObjectApply): Steps<readonly ManagerEntry[]> {
  const { subresource, version, find, now } = apply;
  const update = { live: undefined, object: live, manager: beforeFirstApply, subresource, version, find, now };
  try {
    return capManagers(yield* updateEntries([], update));
  } catch (error) {
    if (!(error instanceof TrackingError)) throw error;
    throw new TrackingError(`failed to create manager for existing fields: ${error.message}`);
  }
}

function checkDocuments(live: JsonObject, applied: JsonObject, { type, isDecoded }: TrackedVersion): void {
  if (managedFieldsOf(applied) !== undefined && managedFieldsOf(applied) !== null) {
    throw new BadApplyError("metadata.managedFields must be nil");
  }
  const problem = typeError(applied, type, { allowsDuplicates: false });
  if (problem !== undefined) {
    throw new TrackingError(`failed to create typed patch object (${objectText(applied)}): ${problem}`);
  }
  const liveProblem = isDecoded ? undefined : typeError(live, type, { allowsDuplicates: true });
  if (liveProblem !== undefined) {
    throw new TrackingError(`failed to create typed live object (${objectText(live)}): ${liveProblem}`);
  }
}

interface Owners {
  readonly last: ManagerEntry | undefined;
  readonly own: ManagerEntry;
  readonly entries: readonly ManagerEntry[];
}

function* merge(live: JsonObject, apply: ObjectApply, { last, own, entries }: Owners): Steps<JsonObject> {
  const { applied, version, find, emptied } = apply;
  const merged = mergeValues(live, applied, version.type) as JsonObject;
  if (last === undefined) return merged;
  yield pause;
  const after = [...entries.filter((entry) => entry !== last), own];
  try {
    return yield* prune({ merged, version, last, entries: after, applied: own, find, emptied });
  } catch (error) {
    if (!(error instanceof TrackingError)) throw error;
    throw new TrackingError(`failed to prune fields: ${error.message}`);
  }
}

/** The conflicts that kubectl's client-side applies do not explain. */
function withoutClientSide(conflicts: readonly Conflict[], live: JsonObject, apply: ObjectApply): readonly Conflict[] {
  if (apply.manager !== kubectlManager || conflicts.length === 0) return conflicts;
  const allowed = clientSideFields(live, apply.version);
  if (allowed === undefined) return conflicts;
  return conflicts
    .map(({ owner, fields }) => ({ owner, fields: fields.difference(allowed) }))
    .filter(({ fields }) => !fields.isEmpty);
}
