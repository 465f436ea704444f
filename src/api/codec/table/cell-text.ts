import { isJsonObject, type JsonObject, type JsonValue } from "../../json.ts";
import { objectsOf } from "../../json-reading.ts";

/** Returns the pairs as `a=1,b=2`, sorted, or `<none>`. */
export function pairsText(value: JsonValue | undefined): string {
  if (!isJsonObject(value)) return "<none>";
  const pairs = Object.keys(value)
    .sort()
    .map((key) => `${key}=${String(value[key])}`);
  return pairs.join(",") || "<none>";
}

/** Returns `True`, `False` or `<unset>`. */
export function flagText(value: JsonValue | undefined): string {
  if (typeof value !== "boolean") return "<unset>";
  return value ? "True" : "False";
}

/** Returns the first few texts and how many of `count` are left out: `a,b,c + 4 more...`. */
export function firstFew(
  texts: readonly string[],
  shownMax: number,
  separator = ",",
  count: number = texts.length,
): string {
  const shown = texts.slice(0, shownMax).join(separator);
  return count > shownMax ? `${shown} + ${count - shownMax} more...` : shown;
}

/** Reports whether a status has a condition of this type that is True. */
export function hasCondition(status: JsonObject, type: string): boolean {
  return objectsOf(status["conditions"]).some(
    (condition) => condition["type"] === type && condition["status"] === "True",
  );
}
