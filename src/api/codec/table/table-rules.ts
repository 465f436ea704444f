import type { JsonObject, JsonValue } from "../../json.ts";

/** Values of one row by column name. */
export type Cells = Readonly<Record<string, JsonValue>>;

/** The rows of one kind in a table. */
export interface TableRules {
  /** The cells besides those that mean the same for every kind. */
  cells(object: JsonObject, nowMs: number): Cells;
  /** All cells in the order of the columns, where several columns may have the same name. */
  row?(object: JsonObject, nowMs: number): readonly JsonValue[];
  /** Conditions of the row itself. */
  rowConditions?(object: JsonObject): JsonObject[];
}
