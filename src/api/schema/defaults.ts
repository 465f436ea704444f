import { cloneJson, type JsonObject, type JsonValue } from "../json.ts";
import type { Field, StructSchema } from "./schema.ts";
import { type StructStep, StructWalk } from "./struct-walk.ts";

const structs = new StructWalk(defaultsOf);

/**
 * Applies defaults in place: those of fields, then the rule of the struct, then those of its parts. A field that is not
 * a pointer counts as absent when it is zero. The object must be decoded (schema/decode.ts). Added fields are last, so
 * the object has to be brought into order before it is encoded.
 * @param settled an object that has its defaults; parts that both objects share are skipped
 */
export function applyDefaults(schema: StructSchema, object: JsonObject, settled?: JsonObject): void {
  structs.visit(schema, object, settled);
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

/** Reports whether a default changes anything. A zero default does not where zero and absent are the same. */
function hasEffect({ default: value, pointer }: Field): boolean {
  return value !== undefined && !isOpen(value, pointer);
}

function isOpen(value: JsonValue | undefined, pointer: boolean): boolean {
  if (value === undefined || value === null) return true;
  return !pointer && (value === "" || value === 0 || value === false);
}
