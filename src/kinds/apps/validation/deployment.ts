import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type {
  Deployment,
  DeploymentSpec,
  DeploymentStrategy,
  RollingUpdateDeployment,
} from "../../../api/types/apps-v1.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import {
  intOrPercentValue,
  validateIntOrPercent,
  validateNotMoreThan100Percent,
} from "../../../api/validation/int-or-percent.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { validateReplicaTemplate } from "./replica-set.ts";
import { validateCollisionCount, validateCounts, validateParts } from "./replica-status.ts";

export function validateDeployment({ spec }: Deployment): FieldError[] {
  if (spec === undefined) return [];
  return [
    ...validateNotNegative(spec.replicas, "spec.replicas"),
    ...validateReplicaTemplate(spec, "spec"),
    ...validateStrategy(spec.strategy ?? {}, "spec.strategy"),
    ...validateNotNegative(spec.minReadySeconds, "spec.minReadySeconds"),
    ...validateNotNegative(spec.revisionHistoryLimit, "spec.revisionHistoryLimit"),
    ...validateProgressDeadline(spec, "spec.progressDeadlineSeconds"),
  ];
}

export function validateDeploymentStatusUpdate({ status }: Deployment, old: Deployment): FieldError[] {
  if (status === undefined) return [];
  const parts = ["updatedReplicas", "readyReplicas", "availableReplicas"] as const;
  const counts = [
    "observedGeneration",
    "replicas",
    ...parts,
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
  ] as const;
  return [
    ...validateCounts(status, counts, "status"),
    ...validateParts(status, parts, "status"),
    ...validateCollisionCount(status, old.status ?? {}, "status"),
  ];
}

function validateStrategy(strategy: DeploymentStrategy, field: string): FieldError[] {
  const { type = "", rollingUpdate } = strategy;
  switch (type) {
    case "Recreate":
      if (rollingUpdate === undefined) return [];
      return [
        fieldError.forbidden(`${field}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'"),
      ];
    case "RollingUpdate":
      if (rollingUpdate !== undefined) return validateRollingUpdate(rollingUpdate, `${field}.rollingUpdate`);
      return [fieldError.required(`${field}.rollingUpdate`, "this should be defaulted and never be nil")];
    default: {
      const shown = internalForm(strategy, "apps/v1.DeploymentStrategy");
      return [fieldError.notSupported(field, shown, ["Recreate", "RollingUpdate"])];
    }
  }
}

/** One replica more or one less must be possible, or nothing would ever be replaced. */
function validateRollingUpdate({ maxUnavailable, maxSurge }: RollingUpdateDeployment, field: string): FieldError[] {
  const errors = [
    ...validateIntOrPercent(maxUnavailable, `${field}.maxUnavailable`),
    ...validateIntOrPercent(maxSurge, `${field}.maxSurge`),
  ];
  if (intOrPercentValue(maxUnavailable) === 0 && intOrPercentValue(maxSurge) === 0) {
    const text = "may not be 0 when `maxSurge` is 0";
    errors.push(fieldError.invalid(`${field}.maxUnavailable`, maxUnavailable, text));
  }
  return [...errors, ...validateNotMoreThan100Percent(maxUnavailable, `${field}.maxUnavailable`)];
}

function validateProgressDeadline(spec: DeploymentSpec, field: string): FieldError[] {
  const { progressDeadlineSeconds: deadline, minReadySeconds = 0 } = spec;
  if (deadline === undefined) return [];
  const errors = validateNotNegative(deadline, field);
  if (deadline > minReadySeconds) return errors;
  return [...errors, fieldError.invalid(field, deadline, "must be greater than minReadySeconds")];
}
