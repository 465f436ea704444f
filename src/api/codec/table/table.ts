import type { JsonObject, JsonValue } from "../../json.ts";
import type { KubeObject } from "../../object-meta.ts";
import { fromStorage } from "../../scheme/conversion/convert.ts";
import { type ResourceInfo, tableInfo } from "../../scheme/resource.ts";
import { metaGroup } from "../../vendor.ts";
import { partialMetadata } from "../partial-metadata.ts";
import type { Transform } from "../representation.ts";
import { cellsOf, rowConditionsOf } from "./cells.ts";
import { RowTime } from "./row-time.ts";

export type TableTransform = Extract<Transform, { kind: "table" }>;

/**
 * Makes a Table of the given objects, which are in the form of `tableInfo`. Without `listMeta`, its metadata is that of
 * the only object.
 */
export function tableOf(
  objects: readonly KubeObject[],
  info: ResourceInfo,
  transform: TableTransform,
  nowMs: number,
): JsonObject {
  const resourceVersion = objects[0]?.metadata.resourceVersion;
  return {
    ...tableType(transform),
    metadata: resourceVersion === undefined ? {} : { resourceVersion },
    columnDefinitions: columnDefinitions(info),
    rows: objects.map((object) => tableRow(object, info, transform, nowMs)),
  };
}

export function tableType({ version }: TableTransform): { kind: string; apiVersion: string } {
  return { kind: "Table", apiVersion: `${metaGroup}/${version}` };
}

export function columnDefinitions(info: ResourceInfo): JsonValue[] {
  return tableInfo(info).columns.map(({ name, type, format, description, priority }) => ({
    name,
    type,
    format,
    description,
    priority,
  }));
}

/** Makes one row: a cell per column of the resource, and as much of the object as the client requested. */
export function tableRow(object: KubeObject, info: ResourceInfo, transform: TableTransform, nowMs: number): JsonObject {
  return { ...rowWithoutObject(object, info, new RowTime(nowMs)), ...rowObject(object, info, transform) };
}

/** Makes the first fields of a row. The object follows them. */
export function rowWithoutObject(object: KubeObject, info: ResourceInfo, time: RowTime): JsonObject {
  const shown = tableInfo(info);
  const conditions = rowConditionsOf(object, shown);
  return { cells: rowOf(object, shown, time), ...(conditions.length === 0 ? {} : { conditions }) };
}

function rowOf(object: KubeObject, info: ResourceInfo, time: RowTime): JsonValue[] {
  const row = info.table?.row?.(object, time);
  if (row !== undefined) return [...row];
  const cells = cellsOf(object, info, time);
  return info.columns.map((column) => cells[column.name] ?? null);
}

function rowObject(object: KubeObject, info: ResourceInfo, { includeObject, version }: TableTransform): JsonObject {
  switch (includeObject) {
    case "None":
      return { object: null };
    case "Metadata":
      return { object: partialMetadata(object, info, version) };
    case "Object":
      return { object: fromStorage(object, info) as JsonObject };
  }
}
