import type { RowTime } from "../../api/codec/table/row-time.ts";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { parseTimeMs } from "../../api/schema/time-text.ts";
import type { CustomResourceColumnDefinition } from "../../api/types/apiextensions-v1.ts";
import { followJsonPath, type JsonPath, jsonPathText, parseJsonPath } from "./json-path.ts";

/** Reads the cell of an object in one column. */
export type CellReader = (object: JsonObject, time: RowTime) => JsonValue;

/** Returns the readers of the columns, in order. A column with an unusable path ends the list. */
export function cellReaders(columns: readonly CustomResourceColumnDefinition[]): CellReader[] {
  const readers: CellReader[] = [];
  for (const { jsonPath, type } of columns) {
    const path = parseJsonPath(jsonPath);
    if (path === undefined) break;
    readers.push((object, time) => cellOf(object, path, type, time));
  }
  return readers;
}

/** A path that leads to several values shows the first one. */
function cellOf(object: JsonObject, path: JsonPath, type: string, time: RowTime): JsonValue {
  const value = followJsonPath(path, object)?.[0];
  if (value === undefined) return null;
  switch (type) {
    case "string":
      return jsonPathText(value);
    case "integer":
      return typeof value === "number" ? Math.trunc(value) : typeof value === "bigint" ? value : null;
    case "number":
      return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? dateCell(value, time) : null;
    default:
      return null;
  }
}

function dateCell(text: string, time: RowTime): string {
  if (text === "" || text === "null") return time.ageOf(undefined);
  const ms = parseTimeMs(text);
  return ms === undefined ? "<invalid>" : time.since(ms);
}
