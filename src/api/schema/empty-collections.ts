import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Field, Schema, StructSchema } from "./schema.ts";

/**
 * Makes null, in place, of the empty lists and maps that are always written: the reference's store does not tell the two
 * apart. The object must be decoded (schema/decode.ts).
 */
export function nullEmptyCollections(schema: StructSchema, object: JsonObject): void {
  const { collections, nested } = planOf(schema);
  for (const { name } of collections) if (isEmpty(object[name])) object[name] = null;
  for (const { name, schema: below } of nested) {
    const value = object[name];
    if (value !== undefined && value !== null) descend(below, value);
  }
}

function descend(schema: Schema, value: JsonValue): void {
  if (schema.kind === "struct") {
    if (isJsonObject(value)) nullEmptyCollections(schema, value);
  } else if (schema.kind === "list") {
    if (Array.isArray(value)) for (const item of value) descend(schema.items, item);
  } else if (schema.kind === "map") {
    if (isJsonObject(value)) for (const key of Object.keys(value)) descend(schema.values, value[key] as JsonValue);
  }
}

/** The few fields of a struct that have to be looked at. */
interface Plan {
  readonly collections: readonly Field[];
  readonly nested: readonly Field[];
}

const plans = new WeakMap<StructSchema, Plan>();

function planOf(schema: StructSchema): Plan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    const fields = [...schema.fields.values()];
    plan = {
      collections: fields.filter(isWrittenCollection),
      nested: fields.filter((field) => hasCollections(field.schema, new Set())),
    };
    plans.set(schema, plan);
  }
  return plan;
}

function isWrittenCollection({ schema, pointer, omitEmpty }: Field): boolean {
  return (schema.kind === "list" || schema.kind === "map") && !pointer && !omitEmpty;
}

/** Whether anything below the schema is such a collection. Types may be recursive, hence the structs already looked at. */
function hasCollections(schema: Schema, seen: Set<StructSchema>): boolean {
  switch (schema.kind) {
    case "scalar":
      return false;
    case "list":
      return hasCollections(schema.items, seen);
    case "map":
      return hasCollections(schema.values, seen);
    case "struct":
      if (seen.has(schema)) return false;
      seen.add(schema);
      return [...schema.fields.values()].some(
        (field) => isWrittenCollection(field) || hasCollections(field.schema, seen),
      );
  }
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
