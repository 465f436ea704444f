import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateBoundedList } from "../../../api/validation/bounded-list.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { validatePoolName } from "./device-names.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { isPresent, numberOf, objectsOf, textOf, validateNotNegative } from "../../../api/validation/fields.ts";

const limitMin = 1;
const limitMax = 1000;
const poolsMax = 1000;
const conditionsMax = 10;

export function validatePoolStatusRequest(request: KubeObject): FieldError[] {
  const { driver, poolName, limit } = fieldsOf(request["spec"]);
  const name = textOf(driver);
  return [
    ...(name === ""
      ? [fieldError.required("spec.driver")]
      : dnsSubdomainProblems(name.toLowerCase()).map((problem) => fieldError.invalid("spec.driver", name, problem))),
    ...(isPresent(poolName) ? validatePoolName(textOf(poolName), "spec.poolName") : []),
    ...(isPresent(limit) && numberOf(limit) < limitMin
      ? [fieldError.invalid("spec.limit", limit, `must be greater than or equal to ${limitMin}`)]
      : []),
    ...(isPresent(limit) && numberOf(limit) > limitMax
      ? [fieldError.invalid("spec.limit", limit, `must be less than or equal to ${limitMax}`)]
      : []),
  ];
}

/** A request is answered once, as it was asked. */
export function validatePoolStatusRequestUpdate(request: KubeObject, old: KubeObject): FieldError[] {
  return validateImmutable(fieldsOf(request["spec"]), fieldsOf(old["spec"]), "spec");
}

export function validatePoolStatus(request: KubeObject): FieldError[] {
  const { poolCount, pools, conditions } = fieldsOf(request["status"]);
  const validatePool = (pool: unknown, field: string) => {
    const { driver, poolName } = fieldsOf(pool);
    return [
      ...(textOf(driver) === "" ? [fieldError.required(`${field}.driver`)] : []),
      ...validatePoolName(textOf(poolName), `${field}.poolName`),
    ];
  };
  return [
    ...(isPresent(poolCount) ? validateNotNegative(poolCount, "status.poolCount") : []),
    ...validateBoundedList(objectsOf(pools), poolsMax, validatePool, "status.pools"),
    ...(objectsOf(conditions).length > conditionsMax
      ? [fieldError.tooMany("status.conditions", objectsOf(conditions).length, conditionsMax)]
      : validateConditions(conditions, "status.conditions")),
  ];
}
