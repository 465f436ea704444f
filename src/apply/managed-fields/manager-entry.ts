import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { ManagedFieldsEntry } from "../../api/object-meta.ts";
import { emptyFieldSet, type FieldSet, parseFieldsV1 } from "./field-set.ts";
import { fieldsCover, fieldsMeet } from "./fields-v1.ts";

/** Who wrote, as an entry of `metadata.managedFields` names it. */
export interface ManagerIdentity {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  /** "" for the object itself. */
  readonly subresource: string;
}

/** One entry of `metadata.managedFields`. Its set is decoded on first use: most writes touch few of the entries. */
export class ManagerEntry implements ManagerIdentity {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  /** "" when the entry carries none. */
  readonly time: string;
  #set: FieldSet | undefined;
  readonly #source: ManagedFieldsEntry | undefined;

  constructor(identity: ManagerIdentity, time: string, set: FieldSet | undefined, source?: ManagedFieldsEntry) {
    this.manager = identity.manager;
    this.operation = identity.operation;
    this.apiVersion = identity.apiVersion;
    this.subresource = identity.subresource;
    this.time = time;
    this.#set = set;
    this.#source = source;
  }

  get set(): FieldSet {
    this.#set ??= parseFieldsV1(this.#source?.fieldsV1) ?? emptyFieldSet;
    return this.#set;
  }

  /** The entry whose fields are the ones given. */
  with(set: FieldSet, time: string): ManagerEntry {
    return new ManagerEntry(this, time, set);
  }

  /** Whether a path of `set` is in this entry. */
  meets(set: FieldSet): boolean {
    const fields = this.#source?.fieldsV1;
    return fields === undefined ? !this.set.intersection(set).isEmpty : fieldsMeet(fields, set);
  }

  /** Whether every path of `set` is in this entry. */
  covers(set: FieldSet): boolean {
    const fields = this.#source?.fieldsV1;
    return fields === undefined ? this.set.union(set) === this.set : fieldsCover(fields, set);
  }

  /** An entry that came from a document and was not changed is that document. */
  encode(): ManagedFieldsEntry {
    if (this.#source !== undefined) return this.#source;
    return {
      manager: this.manager,
      operation: this.operation,
      apiVersion: this.apiVersion,
      ...(this.time === "" ? {} : { time: this.time }),
      fieldsType: "FieldsV1",
      fieldsV1: this.set.toFieldsV1(),
      ...(this.subresource === "" ? {} : { subresource: this.subresource }),
    };
  }
}

/** The entries of a stored object, which this server wrote itself. */
export function storedManagers(entries: readonly ManagedFieldsEntry[]): ManagerEntry[] {
  return entries.map((entry) => {
    const operation = entry.operation === "Apply" ? "Apply" : "Update";
    return new ManagerEntry(identityOf(entry, operation), entry.time ?? "", undefined, entry);
  });
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
  // Written anew rather than as it came: the client's text need not be canonical.
  return set && new ManagerEntry(identityOf(entry, operation), textOf(entry["time"]), set);
}

function identityOf(entry: JsonObject, operation: "Apply" | "Update"): ManagerIdentity {
  return {
    manager: textOf(entry["manager"]),
    operation,
    apiVersion: textOf(entry["apiVersion"]),
    subresource: textOf(entry["subresource"]),
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** In the order of the entries on the wire. */
export function encodeManagedFields(entries: readonly ManagerEntry[]): ManagedFieldsEntry[] {
  return [...entries].sort(compareEntries).map((entry) => entry.encode());
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
export function isSameManager(a: ManagerIdentity, b: ManagerIdentity): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === "Apply" || a.apiVersion === b.apiVersion)
  );
}
