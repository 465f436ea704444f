import type { Eventual } from "../../process/eventual.ts";
import type { TableRules } from "../codec/table/table-rules.ts";
import type { Entry } from "../entry.ts";
import type { GroupVersionKind } from "../gvk.ts";
import type { SignalSource } from "../joint-call.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import type { KubeObject } from "../object-meta.ts";
import type { ObjectForm } from "./object-form.ts";

export interface SubresourceInfo {
  /** `status`, `finalize` … */
  readonly name: string;
  /** Kind and version of the body, which may differ from the parent's. */
  readonly gvk: GroupVersionKind;
  readonly verbs: readonly string[];
  readonly form: ObjectForm;
}

/** One served (group, version, resource). Holds data only; the rules of a resource are in its Strategy. */
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
  /**
   * True for kinds that are answered and never stored, such as reviews and bindings. They have no keys and no registry.
   */
  readonly virtual: boolean;
  /** `/registry/pods/`, with the trailing slash. */
  readonly keyPrefix: string;
  readonly form: ObjectForm;
  readonly columns: readonly TableColumn[];
  /** Rules for the columns; undefined for a kind without columns of its own. */
  readonly table?: TableRules | undefined;
  /**
   * Readers of selectable fields by the label of the field selector, other than metadata.name and metadata.namespace.
   */
  readonly selectableFields: ReadonlyMap<string, FieldReader>;
  /** Message for an unknown label, if it differs from the usual one. */
  readonly labelRefusal?: LabelRules["refusal"];
  readonly subresources: ReadonlyMap<string, SubresourceInfo>;
  /** Stored form of this version; absent if this version itself is stored. */
  readonly storedAs?: StoredAs;
  /** Converter between all versions of the kind, the stored one included. Absent for built-in kinds. */
  readonly converter?: VersionConverter;
  /** True if the objects hold confidential values, which no error may show. */
  readonly sensitive?: true | undefined;
  /** Annotation that represents a field of the spec, and so is missing if only the metadata is shown. */
  readonly specAnnotation?: string | undefined;
  /** Deprecation in the served release, if there is one. */
  readonly deprecation?: Deprecation;
  /** True while the definition is being deleted, when nothing can be created any more. */
  readonly isTerminating?: boolean;
}

/** Stored form of a kind: its served versions share one form, one registry and one cache. */
export interface StoredAs {
  /** Stored version, which may not itself be served. */
  readonly info: ResourceInfo;
  /** Conversion to and from it; absent if both versions have the same fields. */
  readonly conversion?: Conversion;
  /** Labels of field selectors that have another name in the stored version. */
  readonly fieldLabels: ReadonlyMap<string, string>;
}

/** Converts between a served version and the stored one, without changing its argument or losing anything. */
export interface Conversion {
  toStorage(object: JsonObject): JsonObject;
  fromStorage(object: JsonObject): JsonObject;
}

/**
 * Converts objects with something that may be elsewhere and may fail, such as a webhook. Objects of such a kind stay in
 * the version that was the stored one when they were written, which `index.apiVersion` of an entry names.
 */
export interface VersionConverter {
  /** Reports whether the body of an entry is, byte for byte, the one that the version `to` serves. */
  servesBody(entry: Entry, to: ResourceInfo): boolean;
  /** Reports whether an entry gets the fields of the version `to` at once, because nothing has to be asked. */
  convertsAtOnce(entry: Entry, to: ResourceInfo): boolean;
  /**
   * Converts objects of any versions to the version `to`, in order, at once if nothing has to be asked. Leaves its
   * arguments unchanged. Gives up when the signal aborts.
   * @throws StatusError, also as a rejection
   */
  convert(objects: readonly KubeObject[], to: ResourceInfo, signalOf?: SignalSource): Eventual<readonly KubeObject[]>;
  /**
   * Converts an object to the version `to` for the store, without the defaults of that version.
   * @throws StatusError, also as a rejection
   */
  forStorage(object: KubeObject, to: ResourceInfo, signalOf?: SignalSource): Eventual<KubeObject>;
}

/** Reports whether a document fits a generated type. */
export type FitsType = (typeName: string, value: JsonValue) => boolean;

/** Labels of field selectors that are more than the path of a field. */
export interface LabelRules {
  /** Labels with a reader of their own. */
  readonly readers?: Readonly<Record<string, FieldReader>>;
  /** Labels of fields that have another label in the stored version. */
  readonly storedLabels?: ReadonlyMap<string, string>;
  /** Returns the message for a label that the resource does not support, if it differs from the usual one. */
  readonly refusal?: (label: string, gvk: GroupVersionKind) => string;
}

export interface Deprecation {
  /** Release that deprecated the version, such as `1.35`. */
  readonly since: string;
  /** Release that removes it; "" if that is not decided. */
  readonly removedIn: string;
  /** The version to use instead, if there is one. */
  readonly replacement?: GroupVersionKind;
  /** Warning for clients, if it differs from the usual one. */
  readonly warning?: string;
}

/** Returns the version in which objects are stored. */
export function storedInfo(info: ResourceInfo): ResourceInfo {
  return info.storedAs?.info ?? info;
}

/** Returns the version that has the columns of tables, and from whose form rows are made. */
export function tableInfo(info: ResourceInfo): ResourceInfo {
  return info.converter === undefined ? storedInfo(info) : info;
}

/** Reads a selectable field as text; "" if absent. */
export type FieldReader = (object: JsonObject) => string;

export interface TableColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format: string;
  readonly description: string;
  readonly priority: number;
}
