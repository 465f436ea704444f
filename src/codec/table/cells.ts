import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { ResourceInfo } from "../../scheme/resource.ts";
import { ageOf } from "./human-duration.ts";

/** Values of one row by column name. */
export type Cells = Record<string, JsonValue>;

/** The cells of an object; a column without a rule has none. */
export function cellsOf({ metadata }: KubeObject, _info: ResourceInfo, nowMs: number): Cells {
  return {
    Name: metadata.name ?? "",
    Age: ageOf(metadata.creationTimestamp, nowMs),
    "Created At": metadata.creationTimestamp ?? null,
  };
}

/** Conditions of the row itself. */
export function rowConditionsOf(_object: KubeObject, _info: ResourceInfo): JsonObject[] {
  return [];
}
