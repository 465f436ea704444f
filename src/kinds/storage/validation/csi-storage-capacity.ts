import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as storageV1 from "../../../api/types/storage-v1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateQuantityNotNegative } from "../../../api/validation/quantity.ts";

export function validateCsiStorageCapacity(object: storageV1.CSIStorageCapacity): FieldError[] {
  const { nodeTopology, storageClassName, capacity } = object;
  return [
    ...validateLabelSelector(nodeTopology, "nodeTopology"),
    ...dnsSubdomainProblems(storageClassName).map((problem) =>
      fieldError.invalid("storageClassName", storageClassName, problem),
    ),
    ...validateQuantityNotNegative(capacity, "capacity"),
  ];
}

/** The question put to the driver is fixed. The driver's answer may change. */
export function validateCsiStorageCapacityUpdate(
  object: storageV1.CSIStorageCapacity,
  old: storageV1.CSIStorageCapacity,
): FieldError[] {
  return [
    ...validateImmutable(object.nodeTopology, old.nodeTopology, "nodeTopology"),
    ...validateImmutable(object.storageClassName, old.storageClassName, "storageClassName"),
  ];
}
