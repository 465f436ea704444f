import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { PodDisruptionBudget } from "../../../api/types/policy-v1.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { validateIntOrPercent, validateNotMoreThan100Percent } from "../../../api/validation/int-or-percent.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";

const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];

export function validatePodDisruptionBudget({ spec = {} }: PodDisruptionBudget): FieldError[] {
  const { minAvailable, maxUnavailable, selector, unhealthyPodEvictionPolicy: policy } = spec;
  const errors: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const shown = internalForm(spec, "policy/v1.PodDisruptionBudgetSpec");
    errors.push(fieldError.invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const name of ["minAvailable", "maxUnavailable"] as const) {
    errors.push(...validateIntOrPercent(spec[name], `spec.${name}`));
    errors.push(...validateNotMoreThan100Percent(spec[name], `spec.${name}`));
  }
  errors.push(...validateLabelSelector(selector, "spec.selector"));
  if (policy !== undefined && !evictionPolicies.includes(policy)) {
    errors.push(fieldError.notSupported("spec.unhealthyPodEvictionPolicy", policy, evictionPolicies));
  }
  return errors;
}

export function validatePodDisruptionBudgetStatus({ status }: PodDisruptionBudget): FieldError[] {
  const counts = ["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"] as const;
  return [
    ...validateConditions(status?.conditions, "status.conditions"),
    ...counts.flatMap((name) => validateNotNegative(status?.[name], `status.${name}`)),
  ];
}
