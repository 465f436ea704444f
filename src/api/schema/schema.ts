import type { JsonObject, JsonValue } from "../json.ts";

/**
 * Representation of a built-in type, compiled from generated data. Custom kinds follow an OpenAPI schema instead.
 * Decoding, pruning, defaulting, strategic merge, managed fields, protobuf, OpenAPI and tables are functions of it.
 */
export type Schema = ScalarSchema | ListSchema | MapSchema | StructSchema;

export type ScalarKind =
  | "string"
  | "bool"
  | "int32"
  | "int64"
  | "uint8"
  | "uint32"
  | "uint64"
  | "float64"
  /** Base64 text in JSON, bytes in protobuf and CBOR. */
  | "bytes"
  /** Any JSON value. */
  | "any"
  /** Any JSON object: an embedded object or extension, kept as it came. */
  | "rawExtension"
  /** Text or number in, canonical text out. */
  | "quantity"
  | "intOrString"
  /** RFC 3339 with seconds, or null. */
  | "time"
  /** RFC 3339 with six digits, or null. */
  | "microTime"
  /** Text such as `1h30m`. */
  | "duration"
  /** FieldsV1: a JSON object in JSON, its text as bytes in protobuf. */
  | "fieldsV1";

export interface ScalarSchema {
  readonly kind: "scalar";
  readonly scalar: ScalarKind;
  /** Go's name of a named type, such as `v1.PodQOSClass`; absent for the plain ones. */
  readonly goType?: string;
  /** Closed set of values. */
  readonly values?: readonly string[];
  /** Name by which documents call a type that has a JSON form of its own. */
  readonly typeName?: string;
  /** The struct that replaces this type if the value is an object. */
  readonly alternative?: { struct(): StructSchema; readonly takesFlag: boolean };
}
export interface ListSchema {
  readonly kind: "list";
  readonly items: Schema;
  /** As for scalars. */
  readonly goType?: string;
}
export interface MapSchema {
  readonly kind: "map";
  /** Keys are always text. */
  readonly values: Schema;
  /** As for scalars. */
  readonly goType?: string;
  /** Go's name of the type of the keys; absent for plain text. */
  readonly goKeyType?: string;
}
export interface StructSchema {
  readonly kind: "struct";
  /** Package key and type name, such as `core/v1.Pod`. */
  readonly name: string;
  /**
   * Fields in declaration order, which is the order on the wire; inline structs are merged in. Compiled on first use.
   */
  readonly fields: ReadonlyMap<string, Field>;
  /** True if server-side apply treats the struct as one value. */
  readonly atomic: boolean;
  /** True if undeclared fields are kept (custom resources only). */
  readonly preserveUnknown: boolean;
  /**
   * True if `kind` and `apiVersion` are accepted besides the fields: a document of its own, or embedded. Absent means
   * false.
   */
  readonly typeMeta?: boolean;
  /** Defaults that depend on more than one field; changes the object in place. Absent means none. */
  readonly defaultRule?: DefaultRule;
  /** Nested messages that JSON inlines but protobuf does not: protobuf field number → the inlined struct. */
  readonly protoInline: ReadonlyMap<number, StructSchema>;
}
export type DefaultRule = (object: JsonObject) => void;
export interface Field {
  readonly name: string;
  readonly schema: Schema;
  /** Protobuf number; 0 when the field has none. */
  readonly number: number;
  /** True when the field came from an inline struct that is a nested message in protobuf (see protoInline). */
  readonly protoInlined: boolean;
  /** Go's names of the inline structs that the field came from, outermost first. Absent means none. */
  readonly embeddedIn?: readonly string[];
  /** True if absent and zero are different values. */
  readonly pointer: boolean;
  /** True if a zero or empty value is left out of JSON; otherwise it is written. */
  readonly omitEmpty: boolean;
  /** True if a zero struct is left out too. */
  readonly omitZero: boolean;
  readonly required: boolean;
  readonly patchStrategy: readonly ("merge" | "replace" | "retainKeys")[];
  readonly patchMergeKey: string | undefined;
  /** Server-side apply topology of a list. */
  readonly listType: "atomic" | "set" | "map";
  /** True if the type declares no list type, which then counts as `atomic` and is not published. Absent means false. */
  readonly impliesListType?: boolean;
  readonly listMapKeys: readonly string[];
  /** Ownership of a map or struct; undefined if the type of the value decides. */
  readonly mapType: "granular" | "atomic" | undefined;
  readonly default: JsonValue | undefined;
  readonly immutable: boolean;
  /** Feature gates that guard the field; empty for none. */
  readonly gates: readonly string[];
  /** Rules that the type declares about the value: `maxItems=8`, `ifEnabled(Gate)=required`. Absent means none. */
  readonly markers?: readonly string[];
}
