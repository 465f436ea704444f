import { stringifyJson } from "../../../api/codec/json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";
import type { Schema, StructSchema } from "../../../api/schema/schema.ts";
import { sortedMembers, sortedText } from "./sorted-text.ts";

/**
 * Returns the JSON of a typed document as Go writes it: fields in the order in which they are declared, and maps and
 * documents without a type with sorted keys. The document must be in canonical field order.
 */
export function typedText(schema: StructSchema, object: JsonObject): string {
  const members: string[] = [];
  for (const name in object) {
    const field = schema.fields.get(name);
    const value = object[name] as JsonValue;
    members.push(`${stringifyJson(name)}:${field === undefined ? sortedText(value) : valueText(field.schema, value)}`);
  }
  return `{${members.join(",")}}`;
}

function valueText(schema: Schema, value: JsonValue): string {
  switch (schema.kind) {
    case "struct":
      return isJsonObject(value) ? typedText(schema, value) : stringifyJson(value);
    case "list":
      return Array.isArray(value) ? listText(schema.items, value) : stringifyJson(value);
    case "map":
      return isJsonObject(value)
        ? sortedMembers(value, (member) => valueText(schema.values, member))
        : stringifyJson(value);
    case "scalar":
      if (schema.alternative !== undefined) return alternativeText(schema.alternative.struct(), value);
      return schema.scalar === "any" ? sortedText(value) : stringifyJson(value);
  }
}

function listText(items: Schema, list: readonly JsonValue[]): string {
  return `[${list.map((item) => valueText(items, item)).join(",")}]`;
}

/** Writes a value that is a struct, a list of structs or anything else. */
function alternativeText(struct: StructSchema, value: JsonValue): string {
  if (Array.isArray(value)) return listText(struct, value);
  return isJsonObject(value) ? typedText(struct, value) : stringifyJson(value);
}
