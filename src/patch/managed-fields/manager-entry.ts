import { isJsonObject, type JsonValue } from "../../api/json.ts";
import type { ManagedFieldsEntry } from "../../api/object-meta.ts";
import { type FieldSet, parseFieldsV1 } from "./field-set.ts";

/** One entry of `metadata.managedFields`, decoded. */
export interface ManagerEntry {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  /** "" for the object itself. */
  readonly subresource: string;
  /** "" when the entry carries none. */
  readonly time: string;
  readonly set: FieldSet;
  /** The document that this entry was decoded from, to be written back as it is. Absent once anything changed. */
  readonly source?: ManagedFieldsEntry;
}

/** Undefined when any entry is malformed. */
export function decodeManagedFields(entries: readonly JsonValue[]): ManagerEntry[] | undefined {
  const decoded: ManagerEntry[] = [];
  for (const entry of entries) {
    const manager = decodeEntry(entry);
    if (manager === undefined) return undefined;
    decoded.push(manager);
  }
  return decoded;
}

function decodeEntry(entry: JsonValue): ManagerEntry | undefined {
  if (!isJsonObject(entry)) return undefined;
  const operation = entry["operation"];
  const fieldsType = entry["fieldsType"];
  if (operation !== "Apply" && operation !== "Update") return undefined;
  if (fieldsType !== undefined && fieldsType !== "FieldsV1") return undefined;
  const set = parseFieldsV1(entry["fieldsV1"] ?? {});
  if (set === undefined) return undefined;
  return {
    manager: textOf(entry["manager"]),
    operation,
    apiVersion: textOf(entry["apiVersion"]),
    subresource: textOf(entry["subresource"]),
    time: textOf(entry["time"]),
    set,
    source: entry as unknown as ManagedFieldsEntry,
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** In the order of the entries on the wire. */
export function encodeManagedFields(entries: readonly ManagerEntry[]): ManagedFieldsEntry[] {
  return [...entries].sort(compareEntries).map(encodeEntry);
}

function encodeEntry(entry: ManagerEntry): ManagedFieldsEntry {
  if (entry.source !== undefined) return entry.source;
  return {
    manager: entry.manager,
    operation: entry.operation,
    apiVersion: entry.apiVersion,
    ...(entry.time === "" ? {} : { time: entry.time }),
    fieldsType: "FieldsV1",
    fieldsV1: entry.set.toFieldsV1(),
    ...(entry.subresource === "" ? {} : { subresource: entry.subresource }),
  } as ManagedFieldsEntry;
}

function compareEntries(a: ManagerEntry, b: ManagerEntry): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTexts(a.time, b.time) ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  );
}

export function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Whether both stand for the same writer. Appliers keep their entry across versions. */
export function isSameManager(a: Omit<ManagerEntry, "set" | "time">, b: Omit<ManagerEntry, "set" | "time">): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === "Apply" || a.apiVersion === b.apiVersion)
  );
}
