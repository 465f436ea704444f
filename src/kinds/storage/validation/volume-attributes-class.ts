import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import type * as storageV1 from "../../../api/types/storage-v1.ts";
import { validateParameters, validateProvisioner } from "./storage-parameters.ts";

export function validateVolumeAttributesClass(attributesClass: storageV1.VolumeAttributesClass): FieldError[] {
  const { driverName, parameters = {} } = attributesClass;
  const errors = [...validateProvisioner(driverName, "driverName"), ...validateParameters(parameters, "parameters")];
  if (Object.keys(parameters).length > 0) return errors;
  return [...errors, fieldError.required("parameters", "must contain at least one key/value pair")];
}

export function validateVolumeAttributesClassUpdate(
  fresh: storageV1.VolumeAttributesClass,
  old: storageV1.VolumeAttributesClass,
): FieldError[] {
  const forbidden = (field: string) => fieldError.forbidden(field, `updates to ${field} are forbidden.`);
  return [
    ...(fresh.driverName === old.driverName ? [] : [forbidden("driverName")]),
    ...(equalJson(fresh.parameters, old.parameters) ? [] : [forbidden("parameters")]),
    ...validateVolumeAttributesClass(fresh),
  ];
}
