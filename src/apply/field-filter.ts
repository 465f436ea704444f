import type { FieldSet } from "./field-set.ts";
import type { FieldFilter } from "./versions.ts";

/** Leaves out these fields and all that is below them. */
export function excludingFields(excluded: FieldSet): FieldFilter {
  return (fields) => fields.recursiveDifference(excluded);
}
