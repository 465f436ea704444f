import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateConditions } from "../../../api/validation/conditions.ts";
import { validateIntOrPercent, validateNotMoreThan100Percent } from "../../../api/validation/int-or-percent.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { isPresent, objectOf, textOf } from "../../../api/json-reading.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";

const evictionPolicies = ["AlwaysAllow", "IfHealthyBudget"];

export function validatePodDisruptionBudget(budget: KubeObject): FieldError[] {
  const spec = objectOf(budget["spec"]);
  const policy = spec["unhealthyPodEvictionPolicy"];
  const errors: FieldError[] = [];
  if (isPresent(spec["minAvailable"]) && isPresent(spec["maxUnavailable"])) {
    const shown = internalForm(spec, "policy/v1.PodDisruptionBudgetSpec");
    errors.push(fieldError.invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set"));
  }
  for (const name of ["minAvailable", "maxUnavailable"]) {
    errors.push(...validateIntOrPercent(spec[name], `spec.${name}`));
    errors.push(...validateNotMoreThan100Percent(spec[name], `spec.${name}`));
  }
  errors.push(...validateLabelSelector(spec["selector"], "spec.selector"));
  if (isPresent(policy) && !evictionPolicies.includes(textOf(policy))) {
    errors.push(fieldError.notSupported("spec.unhealthyPodEvictionPolicy", policy, evictionPolicies));
  }
  return errors;
}

export function validatePodDisruptionBudgetStatus(budget: KubeObject): FieldError[] {
  const status = objectOf(budget["status"]);
  return [
    ...validateConditions(status["conditions"], "status.conditions"),
    ...["disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"].flatMap((name) =>
      validateNotNegative(status[name], `status.${name}`),
    ),
  ];
}
