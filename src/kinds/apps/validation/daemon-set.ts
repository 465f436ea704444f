import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { DaemonSet, DaemonSetUpdateStrategy, RollingUpdateDaemonSet } from "../../../api/types/apps-v1.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import {
  intOrPercentValue,
  validateIntOrPercent,
  validateNotMoreThan100Percent,
} from "../../../api/validation/int-or-percent.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { isEmptySelector, validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { validateLastingTemplate, validatePodTemplate } from "../../core/validation/pod-template.ts";
import { validateCollisionCount, validateCounts } from "./replica-status.ts";
import { validateSelectsTemplate } from "./workload-selector.ts";

export function validateDaemonSet({ spec }: DaemonSet): FieldError[] {
  if (spec === undefined) return [];
  const { selector, template } = spec;
  return [
    ...validateLabelSelector(selector ?? undefined, "spec.selector"),
    ...validateSelectsTemplate(selector, template, "spec.template"),
    ...(selector !== null && isEmptySelector(selector)
      ? [fieldError.invalid("spec.selector", selector, "empty selector is invalid for daemonset")]
      : []),
    ...validatePodTemplate(template, "spec.template"),
    ...validateLastingTemplate(template, "spec.template", "DaemonSet"),
    ...validateNotNegative(spec.minReadySeconds, "spec.minReadySeconds"),
    ...validateUpdateStrategy(spec.updateStrategy ?? {}, "spec.updateStrategy"),
    ...validateNotNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit"),
  ];
}

export function validateDaemonSetStatusUpdate({ status }: DaemonSet, old: DaemonSet): FieldError[] {
  if (status === undefined) return [];
  const counts = [
    "currentNumberScheduled",
    "numberMisscheduled",
    "desiredNumberScheduled",
    "numberReady",
    "observedGeneration",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberUnavailable",
    "collisionCount",
  ] as const;
  return [...validateCounts(status, counts, "status"), ...validateCollisionCount(status, old.status ?? {}, "status")];
}

function validateUpdateStrategy(strategy: DaemonSetUpdateStrategy, field: string): FieldError[] {
  const { type, rollingUpdate } = strategy;
  if (type === "OnDelete") return [];
  if (type === "RollingUpdate") {
    if (rollingUpdate === undefined) return [fieldError.required(`${field}.rollingUpdate`)];
    return validateRollingUpdate(rollingUpdate, `${field}.rollingUpdate`);
  }
  const shown = internalForm(strategy, "apps/v1.DaemonSetUpdateStrategy");
  return [fieldError.notSupported(field, shown, ["RollingUpdate", "OnDelete"])];
}

/** Exactly one of `maxUnavailable` and `maxSurge` has to be positive. */
function validateRollingUpdate({ maxUnavailable, maxSurge }: RollingUpdateDaemonSet, field: string): FieldError[] {
  const errors = [
    ...validateIntOrPercent(maxUnavailable, `${field}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${field}.maxSurge`),
    ...validateNotMoreThan100Percent(maxUnavailable, `${field}.maxUnavailable`),
    ...validateNotMoreThan100Percent(maxSurge, `${field}.maxSurge`),
  ];
  const [gone, more] = [intOrPercentValue(maxUnavailable) !== 0, intOrPercentValue(maxSurge) !== 0];
  if (gone && more) {
    errors.push(fieldError.invalid(`${field}.maxSurge`, maxSurge, "may not be set when maxUnavailable is non-zero"));
  }
  if (!gone && !more) errors.push(fieldError.required(`${field}.maxUnavailable`, "cannot be 0 when maxSurge is 0"));
  return errors;
}
