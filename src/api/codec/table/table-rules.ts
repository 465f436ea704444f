import type { JsonObject, JsonValue } from "../../json.ts";
import type { KubeObject } from "../../object-meta.ts";
import type { RowTime } from "./row-time.ts";

/** Values of one row by column name. */
export type Cells = Readonly<Record<string, JsonValue>>;

/** The rows of one kind in a table. Objects are in their stored form. */
export interface TableRules<T extends KubeObject = KubeObject> {
  /** Returns the cells other than those that mean the same for every kind. */
  cells(object: T, time: RowTime): Cells;
  /** Returns all cells in the order of the columns. Used where several columns have the same name. */
  row?(object: T, time: RowTime): readonly JsonValue[];
  /** Returns the conditions of the row itself. */
  rowConditions?(object: T): JsonObject[];
}
