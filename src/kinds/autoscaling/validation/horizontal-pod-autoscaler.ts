import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type {
  HorizontalPodAutoscaler,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
} from "../../../api/types/autoscaling-v2.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { validateQuantityNotNegative } from "../../../api/validation/quantity.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateMetrics } from "./metric-spec.ts";
import { isVersionText, validateObjectReference } from "./object-reference.ts";

const periodSecondsMax = 1800;
const stabilizationSecondsMax = 3600;
const policyTypes = ["Percent", "Pods"];
const selectPolicies = ["Disabled", "Max", "Min"];

/** @param old what is replaced: rules that came later than objects spare what was there before */
export function validateHorizontalPodAutoscaler(
  { spec }: HorizontalPodAutoscaler,
  old?: HorizontalPodAutoscaler,
): FieldError[] {
  if (spec === undefined) return [];
  const { minReplicas, scaleTargetRef, metrics = [], behavior = {} } = spec;
  const hadBadObjects = (old?.spec?.metrics ?? []).some(
    ({ type, object }) => type === "Object" && !isVersionText(object?.describedObject.apiVersion ?? ""),
  );
  return [
    ...validateReplicas(spec, old?.spec?.minReplicas === 0 ? 0 : 1),
    ...validateObjectReference(scaleTargetRef, versionRule(spec, old?.spec), "spec.scaleTargetRef"),
    ...validateMetrics(metrics, { toZero: minReplicas === 0, anyVersion: hadBadObjects }, "spec.metrics"),
    ...validateScalingRules(behavior.scaleUp, "spec.behavior.scaleUp"),
    ...validateScalingRules(behavior.scaleDown, "spec.behavior.scaleDown"),
  ];
}

export function validateHorizontalPodAutoscalerStatus({ status }: HorizontalPodAutoscaler): FieldError[] {
  return [
    ...validateNotNegative(status?.currentReplicas, "status.currentReplicas"),
    ...validateNotNegative(status?.desiredReplicas, "status.desiredReplicas"),
  ];
}

function validateReplicas({ minReplicas, maxReplicas }: HorizontalPodAutoscalerSpec, least: number): FieldError[] {
  const errors: FieldError[] = [];
  if (minReplicas !== undefined && minReplicas < least) {
    errors.push(fieldError.invalid("spec.minReplicas", minReplicas, `must be greater than or equal to ${least}`));
  }
  if (maxReplicas === 0) errors.push(fieldError.required("spec.maxReplicas", "must be set and greater than 0"));
  if (maxReplicas < 0) {
    errors.push(fieldError.invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to 1"));
  }
  if (minReplicas === undefined || maxReplicas >= minReplicas) return errors;
  const text = "must be greater than or equal to `minReplicas`";
  return [...errors, fieldError.invalid("spec.maxReplicas", maxReplicas, text)];
}

/** Only replication controllers scale in the group without a name. A reference that stays is not judged again. */
function versionRule(
  { scaleTargetRef: target }: HorizontalPodAutoscalerSpec,
  old: HorizontalPodAutoscalerSpec | undefined,
): "any" | "version" | "group" {
  const before = old?.scaleTargetRef;
  if (before !== undefined && before.apiVersion === target.apiVersion && before.kind === target.kind) return "any";
  return target.kind === "ReplicationController" ? "version" : "group";
}

function validateScalingRules(rules: HPAScalingRules | undefined, field: string): FieldError[] {
  if (rules === undefined) return [];
  const { policies = [], stabilizationWindowSeconds: window = 0, selectPolicy: select, tolerance } = rules;
  const errors: FieldError[] = [];
  if (window < 0) {
    const text = "must be greater than or equal to zero";
    errors.push(fieldError.invalid(`${field}.stabilizationWindowSeconds`, window, text));
  }
  if (window > stabilizationSecondsMax) {
    const text = `must be less than or equal to ${stabilizationSecondsMax}`;
    errors.push(fieldError.invalid(`${field}.stabilizationWindowSeconds`, window, text));
  }
  if (select !== undefined && !selectPolicies.includes(select)) {
    errors.push(fieldError.notSupported(`${field}.selectPolicy`, select, selectPolicies));
  }
  if (policies.length === 0) {
    errors.push(fieldError.required(`${field}.policies`, "must specify at least one Policy"));
  }
  return [
    ...errors,
    ...validateEach(policies, (policy, at) => validateScalingPolicy(policy, `${field}.policies[${at}]`)),
    ...(tolerance === undefined ? [] : validateQuantityNotNegative(tolerance, `${field}.tolerance`)),
  ];
}

function validateScalingPolicy({ type, value, periodSeconds }: HPAScalingPolicy, field: string): FieldError[] {
  const errors = policyTypes.includes(type) ? [] : [fieldError.notSupported(`${field}.type`, type, policyTypes)];
  if (value <= 0) errors.push(fieldError.invalid(`${field}.value`, value, "must be greater than zero"));
  if (periodSeconds <= 0) {
    errors.push(fieldError.invalid(`${field}.periodSeconds`, periodSeconds, "must be greater than zero"));
  }
  if (periodSeconds <= periodSecondsMax) return errors;
  const text = `must be less than or equal to ${periodSecondsMax}`;
  return [...errors, fieldError.invalid(`${field}.periodSeconds`, periodSeconds, text)];
}
