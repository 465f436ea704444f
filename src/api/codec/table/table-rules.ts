import type { JsonObject, JsonValue } from "../../json.ts";

/** Values of one row by column name. */
export type Cells = Readonly<Record<string, JsonValue>>;

/** The rows of one kind in a table. */
export interface TableRules {
  /** Returns the cells other than those that mean the same for every kind. */
  cells(object: JsonObject, nowMs: number): Cells;
  /** Returns all cells in the order of the columns. Used where several columns have the same name. */
  row?(object: JsonObject, nowMs: number): readonly JsonValue[];
  /** Returns the conditions of the row itself. */
  rowConditions?(object: JsonObject): JsonObject[];
}
