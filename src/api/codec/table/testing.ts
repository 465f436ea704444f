import { Scheme } from "../../../kinds/scheme.ts";
import type { JsonObject } from "../../json.ts";
import type { KubeObject } from "../../object-meta.ts";
import { type ResourceInfo, storedInfo } from "../../scheme/resource.ts";
import { cellsOf } from "./cells.ts";
import { RowTime } from "./row-time.ts";
import type { Cells } from "./table-rules.ts";

/** Aids for tests of tables. */

export const nowMs = Date.parse("2026-01-01T01:00:00Z");

export const scheme = Scheme.builtIn({ runtimeConfig: new Map([["api/all", true]]) });

function infoOf(group: string, kind: string): ResourceInfo {
  const info = scheme.resources.find((one) => one.group === group && one.kind === kind);
  if (info === undefined) throw new Error(`no kind ${group}/${kind}`);
  return info;
}

/** Returns the document as the store has it. */
export function storedObject(info: ResourceInfo, document: JsonObject): KubeObject {
  return storedInfo(info).form.decode({ metadata: {}, ...document }, { kind: info.kind }).object as KubeObject;
}

/** Returns the cells of the row for a document. */
export function cells(group: string, kind: string, document: JsonObject): Cells {
  const info = infoOf(group, kind);
  return cellsOf(storedObject(info, document), info, new RowTime(nowMs));
}

/** Returns the conditions of the row for a document. */
export function rowConditions(group: string, kind: string, document: JsonObject): JsonObject[] {
  const info = infoOf(group, kind);
  return info.table?.rowConditions?.(storedObject(info, document)) ?? [];
}

/** Returns the names of the columns in order. */
export function columnNames(group: string, kind: string): string[] {
  return infoOf(group, kind).columns.map(({ name }) => name);
}
