import type { JsonObject, JsonValue } from "../../json.ts";

/** Values of one row by column name. */
export type Cells = Readonly<Record<string, JsonValue>>;

/** The rows of one kind in a table. */
export interface TableRules {
  /** The cells besides those that mean the same for every kind. */
  cells(object: JsonObject, nowMs: number): Cells;
  /** Conditions of the row itself. */
  rowConditions?(object: JsonObject): JsonObject[];
}
