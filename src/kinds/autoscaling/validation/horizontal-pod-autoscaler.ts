import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateMetrics, validateObjectReference } from "./metric-spec.ts";
import { isPresent, numberOf, objectsOf, textOf, validateNotNegative } from "../../../api/validation/fields.ts";
import { validateQuantityNotNegative } from "../../../api/validation/quantity.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const periodSecondsMax = 1800;
const stabilizationSecondsMax = 3600;
const policyTypes = ["Percent", "Pods"];
const selectPolicies = ["Disabled", "Max", "Min"];

/** @param old what is replaced: an autoscaler that may scale to nothing already goes on doing so */
export function validateHorizontalPodAutoscaler(autoscaler: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(autoscaler["spec"]);
  const { minReplicas, maxReplicas = 0 } = spec;
  const least = fieldsOf(old?.["spec"])["minReplicas"] === 0 ? 0 : 1;
  const errors: FieldError[] = [];
  if (isPresent(minReplicas) && numberOf(minReplicas) < least) {
    errors.push(fieldError.invalid("spec.minReplicas", minReplicas, `must be greater than or equal to ${least}`));
  }
  if (numberOf(maxReplicas) < 1) {
    errors.push(fieldError.invalid("spec.maxReplicas", maxReplicas, "must be greater than 0"));
  }
  if (isPresent(minReplicas) && numberOf(maxReplicas) < numberOf(minReplicas)) {
    const text = "must be greater than or equal to `minReplicas`";
    errors.push(fieldError.invalid("spec.maxReplicas", maxReplicas, text));
  }
  return [
    ...errors,
    ...validateObjectReference(fieldsOf(spec["scaleTargetRef"]), "spec.scaleTargetRef"),
    ...validateMetrics(spec["metrics"], minReplicas === 0, "spec.metrics"),
    ...["scaleUp", "scaleDown"].flatMap((name) =>
      validateScalingRules(fieldsOf(spec["behavior"])[name], `spec.behavior.${name}`),
    ),
  ];
}

export function validateHorizontalPodAutoscalerStatus(autoscaler: KubeObject): FieldError[] {
  const status = fieldsOf(autoscaler["status"]);
  return ["currentReplicas", "desiredReplicas"].flatMap((name) => validateNotNegative(status[name], `status.${name}`));
}

function validateScalingRules(value: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  const rules = fieldsOf(value);
  const policies = objectsOf(rules["policies"]);
  const [window, select] = [rules["stabilizationWindowSeconds"], rules["selectPolicy"]];
  const errors: FieldError[] = [];
  if (numberOf(window) < 0) {
    const text = "must be greater than or equal to zero";
    errors.push(fieldError.invalid(`${field}.stabilizationWindowSeconds`, window, text));
  }
  if (numberOf(window) > stabilizationSecondsMax) {
    const text = `must be less than or equal to ${stabilizationSecondsMax}`;
    errors.push(fieldError.invalid(`${field}.stabilizationWindowSeconds`, window, text));
  }
  if (isPresent(select) && !selectPolicies.includes(textOf(select))) {
    errors.push(fieldError.notSupported(`${field}.selectPolicy`, select, selectPolicies));
  }
  if (policies.length === 0) {
    errors.push(fieldError.required(`${field}.policies`, "must specify at least one Policy"));
  }
  return [
    ...errors,
    ...validateEach(policies, (policy, at) => validateScalingPolicy(policy, `${field}.policies[${at}]`)),
    ...(isPresent(rules["tolerance"]) ? validateQuantityNotNegative(rules["tolerance"], `${field}.tolerance`) : []),
  ];
}

function validateScalingPolicy(policy: JsonObject, field: string): FieldError[] {
  const [type, period] = [textOf(policy["type"]), policy["periodSeconds"] ?? 0];
  const errors = policyTypes.includes(type) ? [] : [fieldError.notSupported(`${field}.type`, type, policyTypes)];
  for (const name of ["value", "periodSeconds"]) {
    if (numberOf(policy[name]) > 0) continue;
    errors.push(fieldError.invalid(`${field}.${name}`, policy[name] ?? 0, "must be greater than zero"));
  }
  if (numberOf(period) > periodSecondsMax) {
    const text = `must be less than or equal to ${periodSecondsMax}`;
    errors.push(fieldError.invalid(`${field}.periodSeconds`, period, text));
  }
  return errors;
}
