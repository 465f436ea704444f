import type { JsonValue } from "../../json.ts";

/** Values of one row by column name. */
export type Cells = Readonly<Record<string, JsonValue>>;
