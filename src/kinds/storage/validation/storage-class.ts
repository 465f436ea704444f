import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as storageV1 from "../../../api/types/storage-v1.ts";
import { validateChoice } from "../../../api/validation/field-rules.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateParameters, validateProvisioner } from "./storage-parameters.ts";
import { validateTopologies } from "./topology-selector.ts";

const reclaimPolicies = ["Delete", "Retain"];
const bindingModes = ["Immediate", "WaitForFirstConsumer"];

export function validateStorageClass(storageClass: storageV1.StorageClass): FieldError[] {
  const { provisioner, parameters = {}, reclaimPolicy, volumeBindingMode, allowedTopologies = [] } = storageClass;
  return [
    ...validateProvisioner(provisioner, "provisioner"),
    ...validateParameters(parameters, "parameters"),
    ...validateChoice(reclaimPolicy, reclaimPolicies, "reclaimPolicy"),
    ...validateBindingMode(volumeBindingMode, "volumeBindingMode"),
    ...validateTopologies(allowedTopologies, "allowedTopologies"),
  ];
}

function validateBindingMode(mode: string | undefined, field: string): FieldError[] {
  if (mode === undefined) return [fieldError.required(field)];
  return bindingModes.includes(mode) ? [] : [fieldError.notSupported(field, mode, bindingModes)];
}

/** Volumes that exist were made as the class says, so the class cannot say otherwise later. */
export function validateStorageClassUpdate(fresh: storageV1.StorageClass, old: storageV1.StorageClass): FieldError[] {
  return [
    ...validateImmutable(fresh.parameters, old.parameters, "parameters"),
    ...validateImmutable(fresh.provisioner, old.provisioner, "provisioner"),
    ...validateImmutable(fresh.reclaimPolicy, old.reclaimPolicy, "reclaimPolicy"),
    ...validateImmutable(fresh.volumeBindingMode, old.volumeBindingMode, "volumeBindingMode"),
  ];
}
