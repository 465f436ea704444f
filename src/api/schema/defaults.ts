import { cloneJson, isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Field, Schema, StructSchema } from "./schema.ts";

/**
 * Fills in what the document leaves open, in place: defaults of fields, then the rule of the struct, then its parts.
 * A field that is not a pointer counts as left open when it is zero. The object must be decoded (schema/decode.ts);
 * added fields stand behind the others, so that it has to be brought into order before it is encoded.
 */
export function applyDefaults(schema: StructSchema, object: JsonObject): void {
  const plan = planOf(schema);
  for (const { name, pointer, default: value } of plan.valued) {
    if (isOpen(object[name], pointer)) object[name] = cloneJson(value as JsonValue);
  }
  schema.defaultRule?.(object);
  for (const field of plan.nested) {
    const value = object[field.name];
    if (value !== undefined && value !== null) descend(field.schema, value);
  }
}

function descend(schema: Schema, value: JsonValue): void {
  if (schema.kind === "struct") {
    if (isJsonObject(value)) applyDefaults(schema, value);
  } else if (schema.kind === "list") {
    if (Array.isArray(value)) for (const item of value) descend(schema.items, item);
  } else if (schema.kind === "map") {
    if (isJsonObject(value)) for (const key of Object.keys(value)) descend(schema.values, value[key] as JsonValue);
  }
}

/** The few fields of a struct that defaulting has to look at. */
interface Plan {
  readonly valued: readonly Field[];
  readonly nested: readonly Field[];
}

const plans = new WeakMap<StructSchema, Plan>();

function planOf(schema: StructSchema): Plan {
  let plan = plans.get(schema);
  if (plan === undefined) {
    const fields = [...schema.fields.values()];
    plan = { valued: fields.filter(hasEffect), nested: fields.filter((field) => hasDefaults(field.schema, new Set())) };
    plans.set(schema, plan);
  }
  return plan;
}

/** A zero default of a field where zero and absent are the same changes nothing. */
function hasEffect({ default: value, pointer }: Field): boolean {
  return value !== undefined && !isOpen(value, pointer);
}

/** Whether anything below the schema has a default. Types may be recursive, hence the structs already looked at. */
function hasDefaults(schema: Schema, seen: Set<StructSchema>): boolean {
  switch (schema.kind) {
    case "scalar":
      return false;
    case "list":
      return hasDefaults(schema.items, seen);
    case "map":
      return hasDefaults(schema.values, seen);
    case "struct":
      if (seen.has(schema)) return false;
      seen.add(schema);
      if (schema.defaultRule !== undefined) return true;
      return [...schema.fields.values()].some((field) => hasEffect(field) || hasDefaults(field.schema, seen));
  }
}

function isOpen(value: JsonValue | undefined, pointer: boolean): boolean {
  if (value === undefined || value === null) return true;
  return !pointer && (value === "" || value === 0 || value === false);
}
