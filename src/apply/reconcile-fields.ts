import { type FieldSet, fieldSetNode, leafFieldSet } from "./field-set.ts";
import { isFieldElement, type PathElement } from "./path-element.ts";
import type { ValueType } from "./value-type.ts";

/** Sets that are as this type wants them. */
const reconciledFor = new WeakMap<FieldSet, ValueType>();

/**
 * Brings a set up to date with a schema that has changed since it was recorded: parts of a value that is now atomic
 * become the value itself. Returns the same set if there are none.
 */
export function reconcileFields(fields: FieldSet, type: ValueType): FieldSet {
  if (reconciledFor.get(fields) === type) return fields;
  const reconciled = reconcileNode(fields, type);
  reconciledFor.set(reconciled, type);
  return reconciled;
}

function reconcileNode(node: FieldSet, type: ValueType): FieldSet {
  if (node.elements.length === 0) return node;
  const { map, scalar, list } = type;
  if (map !== undefined) {
    if (map.free) return node;
    return map.atomic ? leafFieldSet : reconcileChildren(node, (element) => keyType(element, type));
  }
  if (scalar !== undefined || list === undefined) return node;
  return list.atomic ? leafFieldSet : reconcileChildren(node, () => list.items);
}

function keyType(element: PathElement, { map }: ValueType): ValueType | undefined {
  return (isFieldElement(element) ? map?.fields.get(element.slice(2))?.type : undefined) ?? map?.values;
}

function reconcileChildren(node: FieldSet, typeOf: (element: PathElement) => ValueType | undefined): FieldSet {
  let nodes: FieldSet[] | undefined;
  for (const [at, element] of node.elements.entries()) {
    const child = node.nodes[at] as FieldSet;
    if (child.elements.length === 0) continue;
    const type = typeOf(element);
    const reconciled = type === undefined ? child : reconcileNode(child, type);
    if (reconciled === child) continue;
    nodes ??= [...node.nodes];
    nodes[at] = reconciled;
  }
  return nodes === undefined ? node : fieldSetNode(node.owned, [...node.elements], nodes);
}
