import { quoteText } from "../api/go-literal.ts";
import { equalJson, isJsonObject, type JsonObject, type JsonValue } from "../api/json.ts";
import { objectOf, textOf } from "../api/json-reading.ts";
import type { ManagedFieldsEntry } from "../api/object-meta.ts";
import { atOnce } from "../process/sliced.ts";
import type { FieldSet } from "./field-set.ts";
import { FieldsV1Error, parseFieldsV1 } from "./fields-v1.ts";
import { compareEntries, ManagerEntry, ownerKey } from "./manager-entry.ts";
import { inPauses, type Steps } from "./versions.ts";

/** Says in upstream's words why a list of entries cannot be read. */
export class ManagedFieldsError extends Error {}

/** Returns the entries of a stored object, which this server wrote itself. The last entry of an owner counts. */
export function storedEntries(live: JsonObject | undefined): readonly ManagerEntry[] {
  const entries = managedFieldsOf(live);
  if (!Array.isArray(entries)) return [];
  const byOwner = new Map<string, ManagerEntry>();
  for (const entry of entries) {
    const { manager = "", operation, apiVersion = "", subresource = "", time = "" } = entry as ManagedFieldsEntry;
    const identity = {
      manager,
      operation: operation === "Apply" ? operation : "Update",
      apiVersion,
      subresource,
    } as const;
    byOwner.set(ownerKey(identity), new ManagerEntry(identity, time, entry as ManagedFieldsEntry));
  }
  return [...byOwner.values()];
}

export function managedFieldsOf(object: JsonObject | undefined): JsonValue | undefined {
  const metadata = object?.["metadata"];
  return isJsonObject(metadata) ? metadata["managedFields"] : undefined;
}

/**
 * Returns the entries that an update starts from. A client may send its own, which count when they can be read. An empty
 * list, or a single empty entry, clears all entries.
 */
export function* entriesToUpdate(
  live: JsonObject | undefined,
  sent: JsonValue | undefined,
): Generator<void, readonly ManagerEntry[]> {
  if (!Array.isArray(sent) || equalJson(sent, managedFieldsOf(live) ?? null)) return storedEntries(live);
  if (isReset(sent)) return [];
  try {
    const entries = yield* decodeEntriesInSteps(sent);
    return entries.length === 0 ? storedEntries(live) : entries;
  } catch (error) {
    if (!(error instanceof ManagedFieldsError)) throw error;
    return storedEntries(live);
  }
}

function isReset(sent: readonly JsonValue[]): boolean {
  const [only] = sent;
  return sent.length === 0 || (sent.length === 1 && (only === null || (isJsonObject(only) && isZeroEntry(only))));
}

function isZeroEntry(entry: JsonObject): boolean {
  return Object.values(entry).every((value) => value === "" || value === null);
}

/** Returns the reason why a list cannot be read; undefined when it can be read. */
export function managedFieldsProblem(entries: readonly ManagedFieldsEntry[] | undefined): string | undefined {
  try {
    decodeEntries((entries ?? []) as unknown as readonly JsonValue[]);
    return undefined;
  } catch (error) {
    if (error instanceof ManagedFieldsError) return error.message;
    throw error;
  }
}

/** @throws ManagedFieldsError */
export function decodeEntries(entries: readonly JsonValue[]): ManagerEntry[] {
  return atOnce(decodeEntriesInSteps(entries));
}

function* decodeEntriesInSteps(entries: readonly JsonValue[]): Generator<void, ManagerEntry[]> {
  // The last entry of an owner counts.
  const decoded = new Map<string, ManagerEntry>();
  for (const [at, entry] of entries.entries()) {
    const manager = yield* decodeEntry(objectOf(entry), at);
    decoded.set(ownerKey(manager), manager);
  }
  return [...decoded.values()];
}

function* decodeEntry(entry: JsonObject, at: number): Generator<void, ManagerEntry> {
  const operation = entry["operation"];
  const apiVersion = textOf(entry["apiVersion"]);
  const fieldsType = textOf(entry["fieldsType"]);
  if (operation !== "Apply" && operation !== "Update") {
    throw new ManagedFieldsError("operation must be `Apply` or `Update`");
  }
  if (apiVersion === "") throw new ManagedFieldsError("apiVersion must not be empty");
  if (fieldsType === "") throw new ManagedFieldsError(`missing fieldsType in managed fields entry ${at}`);
  if (fieldsType !== "FieldsV1") {
    throw new ManagedFieldsError(`invalid fieldsType ${quoteText(fieldsType)} in managed fields entry ${at}`);
  }
  const subresource = textOf(entry["subresource"]);
  const identity = { manager: textOf(entry["manager"]), operation, apiVersion, subresource } as const;
  return new ManagerEntry(identity, textOf(entry["time"]), yield* fieldsOfEntry(entry));
}

function* fieldsOfEntry(entry: JsonObject): Generator<void, FieldSet> {
  try {
    return yield* parseFieldsV1(entry["fieldsV1"] ?? {});
  } catch (error) {
    if (!(error instanceof FieldsV1Error)) throw error;
    throw new ManagedFieldsError(`error decoding versioned set: error decoding set: ${error.message}`);
  }
}

/** Returns the list for `metadata.managedFields`; undefined if no field has an owner. */
export function encodeEntries(entries: readonly ManagerEntry[]): ManagedFieldsEntry[] | undefined {
  if (entries.length === 0) return undefined;
  return entries.toSorted(compareEntries).map((entry) => entry.encode());
}

/** Does the same, and pauses while it encodes large sets. */
export function* encodeEntriesInSteps(entries: readonly ManagerEntry[]): Steps<ManagedFieldsEntry[] | undefined> {
  for (const entry of entries) {
    if (!entry.isEncoded && entry.fields.isLarge) yield* inPauses(entry.fields.prepareDocument());
  }
  return encodeEntries(entries);
}
