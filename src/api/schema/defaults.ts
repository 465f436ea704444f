import { cloneJson, type JsonObject, type JsonValue } from "../json.ts";
import type { Field, StructSchema } from "./schema.ts";
import { type StructStep, StructWalk } from "./struct-walk.ts";

const structs = new StructWalk(defaultsOf);

/**
 * Fills in what the document leaves open, in place: defaults of fields, then the rule of the struct, then its parts.
 * A field that is not a pointer counts as left open when it is zero. The object must be decoded (schema/decode.ts);
 * added fields stand behind the others, so that it has to be brought into order before it is encoded.
 */
export function applyDefaults(schema: StructSchema, object: JsonObject): void {
  structs.visit(schema, object);
}

function defaultsOf({ fields, defaultRule }: StructSchema): StructStep | undefined {
  const valued = [...fields.values()].filter(hasEffect);
  if (valued.length === 0) return defaultRule;
  return (object) => {
    for (const { name, pointer, default: value } of valued) {
      if (isOpen(object[name], pointer)) object[name] = cloneJson(value as JsonValue);
    }
    defaultRule?.(object);
  };
}

/** A zero default of a field where zero and absent are the same changes nothing. */
function hasEffect({ default: value, pointer }: Field): boolean {
  return value !== undefined && !isOpen(value, pointer);
}

function isOpen(value: JsonValue | undefined, pointer: boolean): boolean {
  if (value === undefined || value === null) return true;
  return !pointer && (value === "" || value === 0 || value === false);
}
