import { cloneJson, isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { type OpenApiSchema, valuesOf } from "./open-api-schema.ts";

/** Applies the defaults of a schema, in place. A default value may itself have defaults. */
export function applyDefaults(object: JsonObject, schema: OpenApiSchema): void {
  fill(object, schema);
}

function fill(value: JsonValue, schema: OpenApiSchema): void {
  if (Array.isArray(value)) fillItems(value, schema.items);
  else if (isJsonObject(value)) fillFields(value, schema);
}

function fillFields(object: JsonObject, schema: OpenApiSchema): void {
  const { properties } = schema;
  if (properties !== undefined) {
    for (const name of Object.keys(properties)) {
      const property = properties[name] as OpenApiSchema;
      if (property.default === undefined) continue;
      const isAbsent = object[name] === undefined || (object[name] === null && property.nullable !== true);
      if (isAbsent) object[name] = cloneJson(property.default);
    }
  }
  const values = valuesOf(schema);
  for (const name of Object.keys(object)) {
    const property = properties?.[name];
    const below = property ?? values;
    if (below === undefined) continue;
    if (property === undefined && object[name] === null && below.nullable !== true) {
      object[name] = cloneJson(below.default ?? null);
    }
    fill(object[name] as JsonValue, below);
  }
}

function fillItems(list: JsonValue[], items: OpenApiSchema | undefined): void {
  if (items === undefined) return;
  for (let at = 0; at < list.length; at++) {
    if (list[at] === null && items.nullable !== true) list[at] = cloneJson(items.default ?? null);
    fill(list[at] as JsonValue, items);
  }
}
