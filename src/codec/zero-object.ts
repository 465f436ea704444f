import type { JsonObject, JsonValue } from "../api/json.ts";
import type { Field, Schema, StructSchema } from "../schema/schema.ts";

const zeroObjects = new WeakMap<StructSchema, JsonObject>();

/**
 * What a kind's empty object looks like on the wire: the fields that are written even when nothing is set, such as
 * `"spec":{"containers":null},"status":{}` of a Pod. Shared; do not change it.
 */
export function zeroObject(schema: StructSchema): JsonObject {
  let zero = zeroObjects.get(schema);
  if (zero === undefined) {
    zero = zeroStruct(schema);
    zeroObjects.set(schema, zero);
  }
  return zero;
}

function zeroStruct(schema: StructSchema): JsonObject {
  const zero: JsonObject = {};
  for (const field of schema.fields.values()) {
    if (isWritten(field)) zero[field.name] = field.pointer ? null : zeroValue(field.schema);
  }
  return zero;
}

/** Leaving out empty values drops no struct, unless zero structs are named too. */
function isWritten(field: Field): boolean {
  if (field.name === "kind" || field.name === "apiVersion" || field.omitZero) return false;
  return !field.omitEmpty || (field.schema.kind === "struct" && !field.pointer);
}

function zeroValue(schema: Schema): JsonValue {
  if (schema.kind === "struct") return zeroStruct(schema);
  if (schema.kind !== "scalar") return null;
  switch (schema.scalar) {
    case "string":
      return "";
    case "bool":
      return false;
    case "int32":
    case "int64":
    case "uint8":
    case "uint32":
    case "uint64":
    case "float64":
    case "intOrString":
      return 0;
    case "quantity":
      return "0";
    case "duration":
      return "0s";
    default:
      return null;
  }
}
