import { equalJson, isJsonObject, type JsonValue } from "../../api/json.ts";

/**
 * Returns the path of a field that a copy of a document lacks or has in another state; undefined if it has all of them.
 * The copy may have further fields, which defaults complete, and lack empty ones, which say the same as none.
 */
export function lostField(source: JsonValue, copy: JsonValue | undefined, path = ""): string | undefined {
  if (copy === undefined && isEmpty(source)) return undefined;
  if (isJsonObject(source) && isJsonObject(copy)) {
    return firstLost(Object.keys(source), (name) =>
      lostField(source[name] as JsonValue, copy[name], `${path}.${name}`),
    );
  }
  if (Array.isArray(source) && Array.isArray(copy) && source.length === copy.length) {
    return firstLost([...source.keys()], (at) => lostField(source[at] as JsonValue, copy[at], `${path}[${at}]`));
  }
  return equalJson(source, copy) ? undefined : path;
}

function firstLost<T>(parts: readonly T[], lostIn: (part: T) => string | undefined): string | undefined {
  for (const part of parts) {
    const lost = lostIn(part);
    if (lost !== undefined) return lost;
  }
  return undefined;
}

function isEmpty(value: JsonValue): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length === 0;
  return value === null || value === "";
}
