import type { FieldSet } from "./field-set.ts";
import type { FieldFilter } from "./versions.ts";

/** Leaves out these fields and all that is below them. Hold on to it: it remembers what it gave. */
export function excludingFields(excluded: FieldSet): FieldFilter {
  const known = new WeakMap<FieldSet, FieldSet>();
  return (fields) => {
    let left = known.get(fields);
    if (left === undefined) {
      left = fields.recursiveDifference(excluded);
      known.set(fields, left);
    }
    return left;
  };
}
