import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type * as resourceV1alpha3 from "../../../api/types/resource-v1alpha3.ts";
import { validateBoundedList } from "../../../api/validation/bounded-list.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validatePoolName } from "./device-names.ts";

const limitMin = 1;
const limitMax = 1000;
const poolsMax = 1000;
const conditionsMax = 10;

export function validatePoolStatusRequest({ spec }: resourceV1alpha3.ResourcePoolStatusRequest): FieldError[] {
  const { driver, poolName, limit } = spec;
  return [
    ...(driver === ""
      ? [fieldError.required("spec.driver")]
      : dnsSubdomainProblems(driver.toLowerCase()).map((problem) =>
          fieldError.invalid("spec.driver", driver, problem),
        )),
    ...(poolName === undefined ? [] : validatePoolName(poolName, "spec.poolName")),
    ...(limit !== undefined && limit < limitMin
      ? [fieldError.invalid("spec.limit", limit, `must be greater than or equal to ${limitMin}`)]
      : []),
    ...(limit !== undefined && limit > limitMax
      ? [fieldError.invalid("spec.limit", limit, `must be less than or equal to ${limitMax}`)]
      : []),
  ];
}

/** A request is answered once, and does not change after that. */
export function validatePoolStatusRequestUpdate(
  request: resourceV1alpha3.ResourcePoolStatusRequest,
  old: resourceV1alpha3.ResourcePoolStatusRequest,
): FieldError[] {
  return validateImmutable(request.spec, old.spec, "spec");
}

export function validatePoolStatus({ status }: resourceV1alpha3.ResourcePoolStatusRequest): FieldError[] {
  const { poolCount, pools = [], conditions = [] } = status ?? {};
  const validatePool = ({ driver, poolName }: resourceV1alpha3.PoolStatus, field: string) => [
    ...(driver === "" ? [fieldError.required(`${field}.driver`)] : []),
    ...validatePoolName(poolName ?? "", `${field}.poolName`),
  ];
  return [
    ...validateNotNegative(poolCount ?? undefined, "status.poolCount"),
    ...validateBoundedList(pools, poolsMax, validatePool, "status.pools"),
    ...(conditions.length > conditionsMax
      ? [fieldError.tooMany("status.conditions", conditions.length, conditionsMax)]
      : validateConditions(conditions, "status.conditions")),
  ];
}
