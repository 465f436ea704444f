import type { JsonObject } from "../api/json.ts";
import { emptyFieldSet, type FieldSet } from "./field-set.ts";
import { fieldsOf } from "./fields-of.ts";
import type { ManagerEntry } from "./manager-entry.ts";
import { withNamedFields } from "./named-fields.ts";
import { type Emptied, removeFields } from "./remove-fields.ts";
import { convertTo, type Steps, type TrackedVersion, type VersionFinder } from "./versions.ts";

/** The fields that an apply gives up. */
export interface Pruning {
  /** The live object with the applied one put over it, in the version of the apply. */
  readonly merged: JsonObject;
  readonly version: TrackedVersion;
  /** The applier's entry before. */
  readonly last: ManagerEntry;
  /** All entries, with the applier's new one. */
  readonly entries: readonly ManagerEntry[];
  readonly applied: ManagerEntry;
  readonly find: VersionFinder;
  readonly emptied: Emptied;
}

/** Removes the fields that the applier no longer owns and no other manager owns. @throws TrackingError */
export function* prune({ merged, version, last, entries, applied, find, emptied }: Pruning): Steps<JsonObject> {
  if (last.fields.isEmpty) return merged;
  if (last.apiVersion === applied.apiVersion && applied.fields.covers(last.fields)) return merged;
  const at = find(last.apiVersion);
  if (at === undefined) return merged;
  const whole = yield* convertTo(merged, version, at, "failed to convert merged object to last applied version: ");
  const given = withNamedFields(last.fields, at.type);
  const pruned = yield* restoreAllOwned(whole, removed(whole, given, at, emptied), at, { entries, find, emptied });
  const context = "failed add back dangling items: failed to convert pruned object to last applied version: ";
  const rest = yield* convertTo(pruned.object, pruned.version, at, context);
  return yield* convertTo(restoreUnowned(whole, rest, given, { version: at, emptied }), at, version);
}

/** A document together with the version that it is in. */
interface Versioned {
  readonly object: JsonObject;
  readonly version: TrackedVersion;
}

/** Puts back what was removed but somebody owns, version by version. */
function* restoreAllOwned(
  whole: JsonObject,
  rest: JsonObject,
  version: TrackedVersion,
  { entries, find, emptied }: Pick<Pruning, "entries" | "find" | "emptied">,
): Steps<Versioned> {
  let full: Versioned = { object: whole, version };
  let pruned: Versioned = { object: rest, version };
  for (const [apiVersion, owned] of ownedByVersion(entries, version.apiVersion)) {
    const at = find(apiVersion);
    if (at === undefined) continue;
    const context = (which: string) =>
      `failed add back owned items: failed to convert ${which} object at version ${apiVersion}: `;
    full = { object: yield* convertTo(full.object, full.version, at, context("merged")), version: at };
    const object = yield* convertTo(pruned.object, pruned.version, at, context("pruned"));
    pruned = { object: restoreOwned(full.object, object, owned, { version: at, emptied }), version: at };
  }
  return pruned;
}

function removed(object: JsonObject, fields: FieldSet, { type }: TrackedVersion, emptied: Emptied): JsonObject {
  return removeFields(object, fields, type, emptied) as JsonObject;
}

/** Returns the fields of all owners, by version; the version in which fields are removed comes first. */
function ownedByVersion(entries: readonly ManagerEntry[], first: string): Map<string, FieldSet> {
  const owned = new Map<string, FieldSet>();
  const [there, elsewhere] = [entries.filter(isFirst), entries.filter((entry) => !isFirst(entry))];
  for (const { apiVersion, fields } of [...there, ...elsewhere]) {
    owned.set(apiVersion, (owned.get(apiVersion) ?? emptyFieldSet).union(fields));
  }
  return owned;

  function isFirst({ apiVersion }: ManagerEntry): boolean {
    return apiVersion === first;
  }
}

/** A removal in one version. */
interface Manner {
  readonly version: TrackedVersion;
  readonly emptied: Emptied;
}

/** Puts back what was removed but somebody owns. */
function restoreOwned(full: JsonObject, pruned: JsonObject, owned: FieldSet, { version, emptied }: Manner): JsonObject {
  const { type } = version;
  const kept = withNamedFields(fieldsOf(pruned, type), type).union(withNamedFields(owned, type));
  return removed(full, withNamedFields(fieldsOf(full, type), type).difference(kept), version, emptied);
}

/** Puts back what was removed along with something else, but was not the applier's to remove. */
function restoreUnowned(
  full: JsonObject,
  pruned: JsonObject,
  given: FieldSet,
  { version, emptied }: Manner,
): JsonObject {
  const { type } = version;
  const gone = withNamedFields(fieldsOf(full, type), type).difference(withNamedFields(fieldsOf(pruned, type), type));
  return removed(full, gone.intersection(given), version, emptied);
}
