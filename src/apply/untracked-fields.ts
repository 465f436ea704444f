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

export function withoutUntracked(fields: FieldSet): FieldSet {
  return fields.difference(untracked);
}
