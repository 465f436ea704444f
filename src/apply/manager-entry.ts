import { compareTexts } from "../api/code-points.ts";
import { emptyJsonObject, type JsonObject } from "../api/json.ts";
import type { ManagedFieldsEntry } from "../api/object-meta.ts";
import type { FieldSet } from "./field-set.ts";
import { documentOfFields, readStoredFields } from "./fields-v1.ts";

/** An owner of fields, as an entry of `metadata.managedFields` names it. */
export interface ManagerIdentity {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  /** "" for the object itself. */
  readonly subresource: string;
}

/** One entry of `metadata.managedFields`. The set of a stored one is read on first use. */
export class ManagerEntry implements ManagerIdentity {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
  /** RFC 3339 in UTC; "" for none. */
  readonly time: string;
  #fields: FieldSet | undefined;
  #document: ManagedFieldsEntry | undefined;
  #encoded: ManagedFieldsEntry | undefined;

  constructor(identity: ManagerIdentity, time: string, fields: FieldSet | ManagedFieldsEntry) {
    this.manager = identity.manager;
    this.operation = identity.operation;
    this.apiVersion = identity.apiVersion;
    this.subresource = identity.subresource;
    this.time = time;
    if ("fieldsV1" in fields) this.#document = fields as ManagedFieldsEntry;
    else this.#fields = fields as FieldSet;
  }

  get fields(): FieldSet {
    this.#fields ??= readStoredFields(this.#document?.fieldsV1 as JsonObject);
    return this.#fields;
  }

  /** This entry with other fields; the entry itself when they are the ones it has. */
  with(fields: FieldSet, time = this.time): ManagerEntry {
    if (time === this.time && fields === this.fields) return this;
    return new ManagerEntry(this, time, fields);
  }

  /** Whether the document of its fields is known. */
  get isEncoded(): boolean {
    return this.#encoded !== undefined || (this.#fields === undefined && this.#document !== undefined);
  }

  /** Returns the entry as the object carries it. Entries with the same fields share their `fieldsV1`. */
  encode(): ManagedFieldsEntry {
    if (this.#fields === undefined && this.#document !== undefined) return this.#document;
    this.#encoded ??= this.#encode();
    return this.#encoded;
  }

  #encode(): ManagedFieldsEntry {
    const entry = emptyJsonObject();
    if (this.manager !== "") entry["manager"] = this.manager;
    entry["operation"] = this.operation;
    entry["apiVersion"] = this.apiVersion;
    if (this.time !== "") entry["time"] = this.time;
    entry["fieldsType"] = "FieldsV1";
    entry["fieldsV1"] = documentOfFields(this.fields);
    if (this.subresource !== "") entry["subresource"] = this.subresource;
    return entry as unknown as ManagedFieldsEntry;
  }
}

/** Whether both entries belong to one owner. An applier keeps its entry when it changes to another version. */
export function isSameManager(a: ManagerIdentity, b: ManagerIdentity): boolean {
  return (
    a.manager === b.manager &&
    a.operation === b.operation &&
    a.subresource === b.subresource &&
    (a.operation === "Apply" || a.apiVersion === b.apiVersion)
  );
}

/** Returns a text that differs for different owners, without the cost of escaping their names. */
export function ownerKey({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  const version = operation === "Apply" ? "" : apiVersion;
  return `${operation} ${version.length} ${version} ${subresource.length} ${subresource} ${manager}`;
}

/** Upstream sorts owners by this text in messages, and among entries of the same time. */
export function identityText({ manager, operation, apiVersion, subresource }: ManagerIdentity): string {
  return JSON.stringify({
    ...(manager === "" ? {} : { manager }),
    operation,
    ...(operation === "Apply" ? {} : { apiVersion }),
    ...(subresource === "" ? {} : { subresource }),
  });
}

/** The order of entries in an object. */
export function compareEntries(a: ManagerEntry, b: ManagerEntry): number {
  return (
    compareTexts(a.operation, b.operation) ||
    compareTexts(a.time, b.time) ||
    compareTexts(a.manager, b.manager) ||
    compareTexts(a.apiVersion, b.apiVersion) ||
    compareTexts(a.subresource, b.subresource)
  );
}
