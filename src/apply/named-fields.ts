import { FieldSet } from "./field-set.ts";
import { isFieldElement, type PathElement } from "./path-element.ts";
import type { ValueType } from "./value-type.ts";

/** The set together with every declared field on the way to one of its paths. */
export function withNamedFields(fields: FieldSet, type: ValueType | undefined): FieldSet {
  if (fields.elements.length === 0) return fields;
  const nodes = fields.nodes.map((node, at) => {
    if (node.elements.length === 0) return node;
    const element = fields.elements[at] as PathElement;
    const below = withNamedFields(node, typeBelow(element, type));
    return isFieldElement(element) && type?.map?.fields.has(element.slice(2)) ? below.withOwned(true) : below;
  });
  return new FieldSet(fields.owned, fields.elements, nodes);
}

function typeBelow(element: PathElement, type: ValueType | undefined): ValueType | undefined {
  if (isFieldElement(element)) return type?.map?.fields.get(element.slice(2))?.type ?? type?.map?.values;
  return element.startsWith("k:") ? type?.list?.items : undefined;
}
