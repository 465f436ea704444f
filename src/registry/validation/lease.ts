import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { JsonValue } from "../../api/json.ts";
import { labelKeyErrors } from "../../api/label-syntax.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { fieldsOf } from "./key-values.ts";
import { isPresent, numberOf, textOf } from "./pod-fields.ts";

const strategies = ["OldestEmulationVersion"];

export function validateLease(lease: KubeObject): FieldError[] {
  const spec = fieldsOf(lease["spec"]);
  const { leaseDurationSeconds, leaseTransitions, strategy } = spec;
  const errors: FieldError[] = [];
  if (isPresent(leaseDurationSeconds) && numberOf(leaseDurationSeconds) <= 0) {
    errors.push(fieldError.invalid("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0"));
  }
  if (numberOf(leaseTransitions) < 0) {
    const text = "must be greater than or equal to 0";
    errors.push(fieldError.invalid("spec.leaseTransitions", leaseTransitions, text));
  }
  if (isPresent(strategy)) errors.push(...validateLeaseStrategy(strategy, "spec.strategy"));
  if (textOf(spec["preferredHolder"]) !== "" && textOf(strategy) === "") {
    errors.push(fieldError.forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"));
  }
  return errors;
}

/** How holders are chosen: a name of Kubernetes, or one with a domain. Upstream appends the field's name to its path. */
export function validateLeaseStrategy(value: JsonValue | undefined, field: string): FieldError[] {
  const strategy = textOf(value);
  if (strategy.includes("/")) {
    return labelKeyErrors(strategy).map((problem) => fieldError.invalid(`${field}.strategy`, strategy, problem));
  }
  return strategies.includes(strategy) ? [] : [fieldError.notSupported(`${field}.strategy`, strategy, strategies)];
}
