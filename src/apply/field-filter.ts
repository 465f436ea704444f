import { FieldSet } from "./field-set.ts";
import { fieldElement, isFieldElement } from "./path-element.ts";
import type { FieldFilter } from "./versions.ts";

/** Leaves out these fields and all that is below them. Keep the filter: it caches its results. */
export function excludingFields(excluded: FieldSet): FieldFilter {
  const known = new WeakMap<FieldSet, FieldSet>();
  const filter = (fields: FieldSet) => {
    let left = known.get(fields);
    if (left === undefined) {
      left = fields.recursiveDifference(excluded);
      known.set(fields, left);
    }
    return left;
  };
  const wholeElements = excluded.elements.filter((_, at) => excluded.nodes[at]?.owned);
  return Object.assign(filter, {
    wholeFields: wholeElements.filter(isFieldElement).map((element) => element.slice(2)),
  });
}

/** The same for dotted names: `metadata.labels`. */
export function excludingNames(...names: readonly string[]): FieldFilter {
  return excludingFields(FieldSet.of(...names.map((name) => name.split(".").map(fieldElement))));
}
