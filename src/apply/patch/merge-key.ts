import type { JsonObject, JsonValue } from "../../api/json.ts";

/** Text that is equal for equal scalars; an object or list only equals itself by text. */
export function elementKey(value: JsonValue): string {
  switch (typeof value) {
    case "string":
      return `s${value}`;
    case "number":
    case "bigint":
      return `n${value}`;
    default:
      return `${typeof value}${JSON.stringify(value, (_, inner) => (typeof inner === "bigint" ? String(inner) : inner))}`;
  }
}

/** Undefined when the item does not carry its merge key. */
export function mergeKeyValue(item: JsonObject, mergeKey: string): JsonValue | undefined {
  return Object.hasOwn(item, mergeKey) ? item[mergeKey] : undefined;
}
