import type { JsonObject } from "../../json.ts";
import type { KubeObject } from "../../object-meta.ts";
import type { ResourceInfo } from "../../scheme/resource.ts";
import type { RowTime } from "./row-time.ts";
import type { Cells } from "./table-rules.ts";

/** Returns the cells of an object. Name, Age and Created At mean the same everywhere; the kind provides the others. */
export function cellsOf(object: KubeObject, { table }: ResourceInfo, time: RowTime): Cells {
  const { metadata } = object;
  return {
    Name: metadata.name ?? "",
    Age: time.ageOf(metadata.creationTimestamp),
    "Created At": metadata.creationTimestamp ?? "<unknown>",
    ...table?.cells(object, time),
  };
}

/** Returns the conditions of the row itself. */
export function rowConditionsOf(object: KubeObject, { table }: ResourceInfo): JsonObject[] {
  return table?.rowConditions?.(object) ?? [];
}
