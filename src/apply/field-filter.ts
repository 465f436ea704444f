import { FieldSet } from "./field-set.ts";
import { fieldElement } from "./path-element.ts";
import type { FieldFilter } from "./versions.ts";

/** Leaves out these fields and all that is below them. Keep the filter: it caches its results. */
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

/** The same for dotted names: `metadata.labels`. */
export function excludingNames(...names: readonly string[]): FieldFilter {
  return excludingFields(FieldSet.of(...names.map((name) => name.split(".").map(fieldElement))));
}
