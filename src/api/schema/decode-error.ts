import { isJsonObject, type JsonValue } from "../json.ts";
import type { Schema } from "./schema.ts";

/**
 * Thrown for a value of the wrong type. The message is Go's, as near as the schema allows; it becomes part of a 400.
 */
export class DecodeTypeError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DecodeTypeError";
  }
}

/** Place of a value: the struct that declares its field, and the JSON names from the root on. */
export interface FieldPlace {
  readonly struct: string;
  readonly path: string;
}

/** Step from the root to a value: a field of a struct, an index of a list or a key of a map. */
export type PlaceSegment =
  | { readonly field: string; readonly embeddedIn?: readonly string[] }
  | { readonly key: string }
  | number;

/** Returns the place as Go reports it: with the names of embedded structs, and without indexes and keys. */
export function placeOf(struct: string, segments: readonly PlaceSegment[]): FieldPlace {
  const names: string[] = [];
  for (const segment of segments) {
    if (typeof segment === "object" && "field" in segment) names.push(...(segment.embeddedIn ?? []), segment.field);
  }
  return { struct, path: names.join(".") };
}

/**
 * Makes an error such as `json: cannot unmarshal string into Go struct field ObjectMeta.metadata.labels of type
 * map[string]string`.
 */
export function wrongType(value: JsonValue, goType: string, place: FieldPlace | undefined): DecodeTypeError {
  return new DecodeTypeError(`json: cannot unmarshal ${describe(value)} into Go ${target(place)} type ${goType}`);
}

/** Makes the error for a number that is not whole or out of range, which Go shows. */
export function wrongNumber(value: number | bigint, goType: string, place: FieldPlace | undefined): DecodeTypeError {
  return new DecodeTypeError(`json: cannot unmarshal number ${value} into Go ${target(place)} type ${goType}`);
}

/** Returns Go's name of the type of a schema. */
export function goTypeOf(schema: Schema): string {
  switch (schema.kind) {
    case "list":
      return schema.goType ?? `[]${goTypeOf(schema.items)}`;
    case "map":
      return schema.goType ?? `map[${schema.goKeyType ?? "string"}]${goTypeOf(schema.values)}`;
    case "struct":
      return goTypeName(schema.name);
    case "scalar":
      return schema.goType ?? scalarTypes[schema.scalar];
  }
}

/** Returns `v1.Pod` for `core/v1.Pod`. */
export function goTypeName(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf("/") + 1);
}

/** Returns `Pod` for `core/v1.Pod`. */
export function goStructName(typeName: string): string {
  return typeName.slice(typeName.lastIndexOf(".") + 1);
}

const scalarTypes = {
  string: "string",
  bool: "bool",
  int32: "int32",
  int64: "int64",
  uint8: "uint8",
  uint32: "uint32",
  uint64: "uint64",
  float64: "float64",
  bytes: "[]uint8",
  any: "interface {}",
  rawExtension: "runtime.RawExtension",
  quantity: "resource.Quantity",
  intOrString: "intstr.IntOrString",
  time: "v1.Time",
  microTime: "v1.MicroTime",
  duration: "v1.Duration",
  fieldsV1: "v1.FieldsV1",
} as const;

function target(place: FieldPlace | undefined): string {
  return place === undefined || place.path === "" ? "value of" : `struct field ${place.struct}.${place.path} of`;
}

function describe(value: JsonValue): string {
  if (Array.isArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  if (typeof value === "boolean") return "bool";
  return typeof value === "string" ? "string" : "number";
}
