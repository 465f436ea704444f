import { emptyJsonObject, type JsonObject } from "../../api/json.ts";

/** Returns a copy in which some fields have other names. */
export function renameFields(object: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  const renamed = emptyJsonObject();
  for (const [name, value] of Object.entries(object)) renamed[names.get(name) ?? name] = value;
  return renamed;
}

/** The way back. */
export function inverted(names: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  return new Map([...names].map(([from, to]) => [to, from]));
}
