import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as resourceV1beta2 from "../../../api/types/resource-v1beta2.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { validateCsiDriverName } from "../../core/validation/volume-source.ts";
import { validateDeviceLabel, validatePoolName } from "./device-names.ts";
import { validateDeviceTaint } from "./device-taint.ts";

const conditionsMax = 8;
const noTaint = { key: "", effect: "" };

/** Validates a taint, and the selector of the devices that have it. An empty selector means all devices. */
export function validateDeviceTaintRule({ spec }: resourceV1beta2.DeviceTaintRule): FieldError[] {
  const { driver, pool, device } = spec.deviceSelector ?? {};
  const field = "spec.deviceSelector";
  return [
    ...(driver === undefined ? [] : validateCsiDriverName(driver, `${field}.driver`)),
    ...(pool === undefined ? [] : validatePoolName(pool, `${field}.pool`)),
    ...(device === undefined ? [] : validateDeviceLabel(device, `${field}.device`)),
    ...validateDeviceTaint(spec.taint ?? noTaint, "spec.taint"),
  ];
}

export function validateDeviceTaintRuleStatus({ status }: resourceV1beta2.DeviceTaintRule): FieldError[] {
  const { conditions = [] } = status ?? {};
  const count = conditions.length;
  return [
    ...validateConditions(conditions, "status.conditions"),
    ...(count > conditionsMax ? [fieldError.tooMany("status.conditions", count, conditionsMax)] : []),
  ];
}
