import { FieldSet, fieldSetNode } from "./field-set.ts";
import { fieldElement, type PathElement } from "./path-element.ts";
import type { FieldFilter } from "./versions.ts";

/** Leaves out these fields and all that is below them. Hold on to it: it remembers what it gave. */
export function excludingFields(excluded: FieldSet): FieldFilter {
  return remembering((fields) => fields.recursiveDifference(excluded));
}

/** The same for dotted names: `metadata.labels`. */
export function excludingNames(...names: readonly string[]): FieldFilter {
  return excludingFields(FieldSet.of(...names.map((name) => name.split(".").map(fieldElement))));
}

/** Any element of a list or map. */
const anyElement = "*";

/**
 * Leaves out everything but the fields of these dotted names, what is below them, and the owned ones on the way to them.
 * A `*` stands for any element: `spec.containers.*.resources`.
 */
export function keepingNames(...names: readonly string[]): FieldFilter {
  const paths = names.map((name) => name.split(".").map((step) => (step === anyElement ? step : fieldElement(step))));
  return remembering((fields) => kept(fields, paths, 0));
}

/** The part of a node that the paths lead to from `depth` on. */
function kept(fields: FieldSet, paths: readonly (readonly PathElement[])[], depth: number): FieldSet {
  const elements: PathElement[] = [];
  const nodes: FieldSet[] = [];
  for (const [at, element] of fields.elements.entries()) {
    const matching = paths.filter((path) => path[depth] === anyElement || path[depth] === element);
    if (matching.length === 0) continue;
    const all = fields.nodes[at] as FieldSet;
    const node = matching.some((path) => path.length === depth + 1) ? all : kept(all, matching, depth + 1);
    if (node.isEmpty) continue;
    elements.push(element);
    nodes.push(node);
  }
  return fieldSetNode(fields.owned, elements, nodes);
}

function remembering(filter: FieldFilter): FieldFilter {
  const known = new WeakMap<FieldSet, FieldSet>();
  return (fields) => {
    let left = known.get(fields);
    if (left === undefined) {
      left = filter(fields);
      known.set(fields, left);
    }
    return left;
  };
}
