import type { Entry } from "../entry.ts";
import type { Eventual } from "../eventual.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { GroupVersionKind } from "../gvk.ts";
import type { KubeObject } from "../object-meta.ts";
import type { TableRules } from "../codec/table/table-rules.ts";
import type { ObjectForm } from "./object-form.ts";

export interface SubresourceInfo {
  /** `status`, `finalize` … */
  readonly name: string;
  /** Kind and version of the body, which may differ from the parent's. */
  readonly gvk: GroupVersionKind;
  readonly verbs: readonly string[];
  readonly form: ObjectForm;
}

/** One served (group, version, resource). Everything here is data; rules of one resource live in its Strategy. */
export interface ResourceInfo extends GroupVersionKind {
  /** The plural, as in the URL. */
  readonly resource: string;
  readonly singular: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly storageVersionHash: string;
  /** Answered and never stored: reviews, bindings. Has no keys and no registry. */
  readonly virtual: boolean;
  /** `/registry/pods/`, with the trailing slash. */
  readonly keyPrefix: string;
  readonly form: ObjectForm;
  readonly columns: readonly TableColumn[];
  /** Fills the columns; undefined for a kind without columns of its own. */
  readonly table?: TableRules | undefined;
  /** Label of a field selector → path of the field in the object; beyond metadata.name and metadata.namespace. */
  readonly selectableFields: ReadonlyMap<string, FieldReader>;
  /** The text for a label that is not among them, where it is not the usual one. */
  readonly labelRefusal?: LabelRules["refusal"];
  readonly subresources: ReadonlyMap<string, SubresourceInfo>;
  /** How objects of this version lie in the store; absent when they are stored as they are. */
  readonly storedAs?: StoredAs;
  /** Converts between all versions of the kind, the stored one included. Absent for built-in kinds. */
  readonly converter?: VersionConverter;
  /** The objects hold confidential values, which no error may show. */
  readonly sensitive?: true | undefined;
  /** Present once the version is deprecated in the served release. */
  readonly deprecation?: Deprecation;
  /** Its definition is being deleted: nothing is created any more. */
  readonly isTerminating?: boolean;
}

/** Several served versions of a kind share one stored form, one registry and one cache. */
export interface StoredAs {
  /** The version that is stored. It need not be served itself. */
  readonly info: ResourceInfo;
  /** Absent when both versions have the same fields. */
  readonly conversion?: Conversion;
  /** Labels of field selectors that the stored version knows under another name. */
  readonly fieldLabels: ReadonlyMap<string, string>;
}

/** Between a served version and the stored one. Neither direction changes what it is given, or loses anything. */
export interface Conversion {
  toStorage(object: JsonObject): JsonObject;
  fromStorage(object: JsonObject): JsonObject;
}

/**
 * Conversion that may take an answer from elsewhere and may fail. Objects of such a kind lie in the store in the version
 * that was the stored one when they were written; `index.apiVersion` of an entry names it.
 */
export interface VersionConverter {
  /** Whether the body of an entry is, byte for byte, what the version `to` serves. */
  servesBody(entry: Entry, to: ResourceInfo): boolean;
  /** Reports whether an entry gets the fields of the version `to` at once, because nothing has to be asked. */
  convertsAtOnce(entry: Entry, to: ResourceInfo): boolean;
  /**
   * Objects of any versions of the kind in the version `to`, in their order, at once where nothing has to be asked. The
   * arguments stay as they are.
   * @throws StatusError, also as a rejection
   */
  convert(objects: readonly KubeObject[], to: ResourceInfo): Eventual<readonly KubeObject[]>;
  /**
   * An object in the version `to` as it is put into the store, without the defaults of that version.
   * @throws StatusError, also as a rejection
   */
  forStorage(object: KubeObject, to: ResourceInfo): Eventual<KubeObject>;
}

/** Tells whether a document is of a generated type. */
export type FitsType = (typeName: string, value: JsonValue) => boolean;

/** The labels of field selectors that are more than the path of a field. */
export interface LabelRules {
  /** Labels with a reader of their own. */
  readonly readers?: Readonly<Record<string, FieldReader>>;
  /** Label to label of the same field in the stored version, where that names it otherwise. */
  readonly storedLabels?: ReadonlyMap<string, string>;
  /** The text for a label that the resource does not select by, where it is not the usual one. */
  readonly refusal?: (label: string, gvk: GroupVersionKind) => string;
}

export interface Deprecation {
  /** Release since which the version is deprecated, such as `1.35`. */
  readonly since: string;
  /** Release that serves it no more; "" when that is not decided. */
  readonly removedIn: string;
  /** What to use instead; absent when nothing takes its place. */
  readonly replacement?: GroupVersionKind;
  /** The text for clients, where it is not the usual one. */
  readonly warning?: string;
}

/** The version whose objects are in the store. */
export function storedInfo(info: ResourceInfo): ResourceInfo {
  return info.storedAs?.info ?? info;
}

/** The version that has the columns of tables, and whose form rows are made of. */
export function tableInfo(info: ResourceInfo): ResourceInfo {
  return info.converter === undefined ? storedInfo(info) : info;
}

/** Reads one selectable field as text; "" when absent. */
export type FieldReader = (object: JsonObject) => string;

export interface TableColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}
