import { compareTexts } from "../../../api/code-points.ts";
import { stringifyJson } from "../../../api/codec/json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../api/json.ts";

/**
 * Returns the JSON of a document with sorted keys, as Go writes one without a type. An object with sorted keys would not
 * do: JavaScript puts keys such as "10" first, in the order of the numbers.
 */
export function sortedText(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(sortedText).join(",")}]`;
  return isJsonObject(value) ? sortedMembers(value, sortedText) : stringifyJson(value);
}

/** Returns the JSON of an object whose members are sorted and have these texts. */
export function sortedMembers(object: JsonObject, textOf: (value: JsonValue) => string): string {
  const members = Object.keys(object)
    .sort(compareTexts)
    .map((name) => `${stringifyJson(name)}:${textOf(object[name] as JsonValue)}`);
  return `{${members.join(",")}}`;
}
