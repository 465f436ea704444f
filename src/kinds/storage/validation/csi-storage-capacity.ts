import type { FieldError } from "../../../api/field-error.ts";
import { fieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { textOf } from "../../../api/validation/fields.ts";
import { validateQuantityNotNegative } from "../../../api/validation/quantity.ts";

export function validateCsiStorageCapacity(object: KubeObject): FieldError[] {
  const { nodeTopology, storageClassName, capacity, maximumVolumeSize } = fieldsOf(object);
  const className = textOf(storageClassName);
  return [
    ...validateLabelSelector(nodeTopology, "nodeTopology"),
    ...dnsSubdomainProblems(className).map((problem) => fieldError.invalid("storageClassName", className, problem)),
    ...validateQuantityNotNegative(capacity, "capacity"),
    ...validateQuantityNotNegative(maximumVolumeSize, "maximumVolumeSize"),
  ];
}

/** What the driver was asked for stays; what it answered may change. */
export function validateCsiStorageCapacityUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(object), fieldsOf(old)];
  return ["nodeTopology", "storageClassName"].flatMap((name) => validateImmutable(fresh[name], stored[name], name));
}
