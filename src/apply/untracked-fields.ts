import { FieldSet } from "./field-set.ts";

/** Fields that a writer never owns: the server sets them, or they say which object it is. */
const untracked = FieldSet.of(
  ["f:apiVersion"],
  ["f:kind"],
  ["f:metadata"],
  ...[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
  ].map((field) => ["f:metadata", `f:${field}`]),
);

const known = new WeakMap<FieldSet, FieldSet>();

/** Gives the same set for the same fields, so that objects of one shape share what is made of it. */
export function withoutUntracked(fields: FieldSet): FieldSet {
  let tracked = known.get(fields);
  if (tracked === undefined) {
    tracked = fields.difference(untracked);
    known.set(fields, tracked);
  }
  return tracked;
}
