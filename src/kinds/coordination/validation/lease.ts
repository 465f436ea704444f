import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type { Lease } from "../../../api/types/coordination-v1.ts";

const strategies = ["OldestEmulationVersion"];

export function validateLease({ spec = {} }: Lease): FieldError[] {
  const { leaseDurationSeconds, leaseTransitions = 0, strategy, preferredHolder = "" } = spec;
  const errors: FieldError[] = [];
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(fieldError.invalid("spec.leaseDurationSeconds", leaseDurationSeconds, "must be greater than 0"));
  }
  if (leaseTransitions < 0) {
    const text = "must be greater than or equal to 0";
    errors.push(fieldError.invalid("spec.leaseTransitions", leaseTransitions, text));
  }
  if (strategy !== undefined) errors.push(...validateLeaseStrategy(strategy, "spec.strategy"));
  if (preferredHolder !== "" && (strategy ?? "") === "") {
    errors.push(fieldError.forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"));
  }
  return errors;
}

/** Checks the name of a strategy: one of Kubernetes, or one with a domain. Upstream appends the field's name to its path. */
export function validateLeaseStrategy(strategy: string, field: string): FieldError[] {
  if (strategy.includes("/")) {
    return labelKeyErrors(strategy).map((problem) => fieldError.invalid(`${field}.strategy`, strategy, problem));
  }
  return strategies.includes(strategy) ? [] : [fieldError.notSupported(`${field}.strategy`, strategy, strategies)];
}
