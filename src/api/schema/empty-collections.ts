import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Field, StructSchema } from "./schema.ts";
import { type StructStep, StructWalk } from "./struct-walk.ts";

const structs = new StructWalk(nullingOf);

/**
 * Replaces, in place, empty lists and maps that are always written by null: upstream does not distinguish the two in
 * the store. The object must be decoded (schema/decode.ts).
 */
export function nullEmptyCollections(schema: StructSchema, object: JsonObject): void {
  structs.visit(schema, object);
}

function nullingOf({ fields }: StructSchema): StructStep | undefined {
  const collections = [...fields.values()].filter(isWrittenCollection);
  if (collections.length === 0) return undefined;
  return (object) => {
    for (const { name } of collections) if (isEmpty(object[name])) object[name] = null;
  };
}

function isWrittenCollection({ schema, pointer, omitEmpty }: Field): boolean {
  return (schema.kind === "list" || schema.kind === "map") && !pointer && !omitEmpty;
}

function isEmpty(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
