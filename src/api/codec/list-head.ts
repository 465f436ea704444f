import type { JsonObject } from "../json.ts";

/** A list before its items are written. */
export interface ListHead {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: JsonObject;
  /** Fields between metadata and the items: the columns of a Table. */
  readonly extra: JsonObject;
  readonly itemsField: "items" | "rows";
  /** True for a list whose items are null instead of empty. */
  readonly isNull?: boolean;
}
