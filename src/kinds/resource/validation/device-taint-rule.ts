import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { validateDeviceLabel, validatePoolName } from "./device-names.ts";
import { validateDeviceTaint } from "./device-taint.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, objectsOf, textOf } from "../../../api/validation/fields.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";

const conditionsMax = 8;

/** A taint, and the devices that have it: all of them when nothing narrows it down. */
export function validateDeviceTaintRule(rule: KubeObject): FieldError[] {
  const { deviceSelector, taint } = fieldsOf(rule["spec"]);
  const { driver, pool, device } = fieldsOf(deviceSelector);
  const field = "spec.deviceSelector";
  return [
    ...(isPresent(driver) ? validateCsiDriverName(textOf(driver), `${field}.driver`) : []),
    ...(isPresent(pool) ? validatePoolName(textOf(pool), `${field}.pool`) : []),
    ...(isPresent(device) ? validateDeviceLabel(textOf(device), `${field}.device`) : []),
    ...validateDeviceTaint(fieldsOf(taint), "spec.taint"),
  ];
}

export function validateDeviceTaintRuleStatus(rule: KubeObject): FieldError[] {
  const { conditions } = fieldsOf(rule["status"]);
  const count = objectsOf(conditions).length;
  return [
    ...validateConditions(conditions, "status.conditions"),
    ...(count > conditionsMax ? [fieldError.tooMany("status.conditions", count, conditionsMax)] : []),
  ];
}
