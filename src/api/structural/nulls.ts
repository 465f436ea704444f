import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { type OpenApiSchema, valuesOf } from "./open-api-schema.ts";

/** Removes, in place, null fields where the schema allows no null and has no default to replace it. */
export function dropNulls(object: JsonObject, schema: OpenApiSchema): void {
  visit(object, schema);
}

function visit(value: JsonValue, schema: OpenApiSchema): void {
  if (Array.isArray(value)) {
    if (schema.items === undefined) return;
    for (const item of value) visit(item, schema.items);
    return;
  }
  if (!isJsonObject(value)) return;
  for (const name of Object.keys(value)) {
    const below = schema.properties?.[name] ?? valuesOf(schema);
    if (below === undefined) continue;
    const field = value[name] as JsonValue;
    if (field === null && below.nullable !== true && below.default === undefined) delete value[name];
    else visit(field, below);
  }
}
