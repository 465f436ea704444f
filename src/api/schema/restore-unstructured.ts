import { goInterfaceType } from "../go-text.ts";
import { isJsonObject, type JsonObject, type JsonValue, shallowCopy } from "../json.ts";
import { jsonTypeName } from "../json-type-name.ts";
import { DecodeTypeError } from "./decode-error.ts";
import type { ScalarKind, ScalarSchema, Schema, StructSchema } from "./schema.ts";

/**
 * Fits a document to a type as upstream does with the result of a strategic merge patch, which never passes through
 * JSON: whole numbers wrap around in a smaller type, and errors do not name the field.
 * @throws DecodeTypeError with upstream's text for the first value that does not fit
 */
export function restoreUnstructured(schema: StructSchema, document: JsonObject): JsonObject {
  return restoreStruct(schema, document) as JsonObject;
}

function restore(schema: Schema, value: JsonValue): JsonValue {
  if (value === null) return value;
  switch (schema.kind) {
    case "struct":
      return restoreStruct(schema, value);
    case "list":
      if (!Array.isArray(value)) throw new DecodeTypeError(`cannot restore slice from ${goKind(value)}`);
      return value.map((item) => restore(schema.items, item));
    case "map":
      return restoreMap(schema.values, value);
    case "scalar":
      return restoreScalar(schema, value);
  }
}

function restoreStruct(schema: StructSchema, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) throw new DecodeTypeError(`cannot restore struct from: ${goKind(value)}`);
  const restored = shallowCopy(value);
  for (const field of schema.fields.values()) {
    const given = value[field.name];
    if (given !== undefined) restored[field.name] = restore(field.schema, given);
  }
  return restored;
}

function restoreMap(values: Schema, value: JsonValue): JsonValue {
  if (!isJsonObject(value)) throw new DecodeTypeError(`cannot restore map from ${goKind(value)}`);
  const restored = shallowCopy(value);
  for (const key of Object.keys(value)) restored[key] = restore(values, value[key] as JsonValue);
  return restored;
}

const numberBits: Readonly<Partial<Record<ScalarKind, { readonly bits: number; readonly signed: boolean }>>> = {
  int32: { bits: 32, signed: true },
  int64: { bits: 64, signed: true },
  uint8: { bits: 8, signed: false },
  uint32: { bits: 32, signed: false },
  uint64: { bits: 64, signed: false },
};

function restoreScalar({ scalar, goType = scalar }: ScalarSchema, value: JsonValue): JsonValue {
  const bits = numberBits[scalar];
  if (bits !== undefined) return restoreInteger(scalar, value, bits);
  if (scalar === "bool" && typeof value !== "boolean") throw unrecognized("bool");
  if (scalar === "string" && typeof value !== "string") {
    // Go could convert a whole number to a character, but the converter rejects it.
    throw goInterfaceType(value) === "int64" ? cannotConvert("int64", goType) : unrecognized("string");
  }
  if (scalar === "bytes" && typeof value !== "string") {
    throw new DecodeTypeError(`cannot restore slice from ${goKind(value)}`);
  }
  if (timeLike.has(scalar) && typeof value !== "string") {
    throw new DecodeTypeError(`json: cannot unmarshal ${jsonTypeName(value)} into Go value of type string`);
  }
  return value;
}

const timeLike: ReadonlySet<ScalarKind> = new Set(["time", "microTime", "duration"]);

function restoreInteger(
  scalar: ScalarKind,
  value: JsonValue,
  { bits, signed }: { readonly bits: number; readonly signed: boolean },
): JsonValue {
  if (typeof value !== "number" && typeof value !== "bigint") throw unrecognized(scalar);
  if (typeof value === "number" && !Number.isInteger(value)) throw cannotConvert("float64", scalar);
  const whole = BigInt(value);
  const wrapped = signed ? BigInt.asIntN(bits, whole) : BigInt.asUintN(bits, whole);
  return wrapped === whole ? value : Number(wrapped);
}

function cannotConvert(from: string, to: string): DecodeTypeError {
  return new DecodeTypeError(`cannot convert ${from} to ${to}`);
}

function unrecognized(type: string): DecodeTypeError {
  return new DecodeTypeError(`unrecognized type: ${type}`);
}

function goKind(value: JsonValue): string {
  if (Array.isArray(value)) return "slice";
  return isJsonObject(value) ? "map" : goInterfaceType(value);
}
