import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateChoice, validateRequiredChoice } from "../../../api/validation/fields.ts";
import { validateParameters, validateProvisioner } from "./storage-parameters.ts";
import { validateTopologies } from "./topology-selector.ts";

const reclaimPolicies = ["Delete", "Retain"];
const bindingModes = ["Immediate", "WaitForFirstConsumer"];

export function validateStorageClass(storageClass: KubeObject): FieldError[] {
  const { provisioner, parameters, reclaimPolicy, volumeBindingMode, allowedTopologies } = fieldsOf(storageClass);
  return [
    ...validateProvisioner(provisioner, "provisioner"),
    ...validateParameters(parameters, "parameters"),
    ...validateChoice(reclaimPolicy, reclaimPolicies, "reclaimPolicy"),
    ...validateRequiredChoice(volumeBindingMode, bindingModes, "volumeBindingMode"),
    ...validateTopologies(allowedTopologies, "allowedTopologies"),
  ];
}

/** Volumes that exist were made as the class says: another way of making them is another class. */
export function validateStorageClassUpdate(storageClass: KubeObject, old: KubeObject): FieldError[] {
  const [fresh, stored] = [fieldsOf(storageClass), fieldsOf(old)];
  return [
    ...validateKept(fresh, stored, ["parameters", "provisioner", "reclaimPolicy"]),
    ...validateImmutable(fresh["volumeBindingMode"], stored["volumeBindingMode"], "volumeBindingMode"),
  ];
}

export function validateVolumeAttributesClass(attributesClass: KubeObject): FieldError[] {
  const parameters = attributesClass["parameters"] as JsonValue | undefined;
  const errors = [
    ...validateProvisioner(attributesClass["driverName"] as JsonValue | undefined, "driverName"),
    ...validateParameters(parameters, "parameters"),
  ];
  const isEmpty = Object.keys(fieldsOf(parameters)).length === 0;
  return isEmpty ? [...errors, fieldError.required("parameters", "must contain at least one key/value pair")] : errors;
}

export function validateVolumeAttributesClassUpdate(attributesClass: KubeObject, old: KubeObject): FieldError[] {
  return validateKept(fieldsOf(attributesClass), fieldsOf(old), ["driverName", "parameters"]);
}

function validateKept(fresh: JsonObject, stored: JsonObject, fields: readonly string[]): FieldError[] {
  return fields
    .filter((field) => !equalJson(fresh[field], stored[field]))
    .map((field) => fieldError.forbidden(field, `updates to ${field} are forbidden.`));
}
