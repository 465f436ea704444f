import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import {
  intOrPercentValue,
  validateIntOrPercent,
  validateNotMoreThan100Percent,
} from "../../../api/validation/int-or-percent.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isPresent, numberOf, textOf, validateNotNegative } from "../../../api/validation/fields.ts";
import { validateReplicaTemplate } from "./replica-set.ts";
import { validateCollisionCount, validateCounts, validateParts } from "./replica-status.ts";

export function validateDeployment(deployment: KubeObject): FieldError[] {
  const spec = fieldsOf(deployment["spec"]);
  return [
    ...validateNotNegative(spec["replicas"], "spec.replicas"),
    ...validateReplicaTemplate(spec, "spec"),
    ...validateStrategy(fieldsOf(spec["strategy"]), "spec.strategy"),
    ...validateNotNegative(spec["minReadySeconds"], "spec.minReadySeconds"),
    ...validateNotNegative(spec["revisionHistoryLimit"], "spec.revisionHistoryLimit"),
    ...validateProgressDeadline(spec, "spec.progressDeadlineSeconds"),
  ];
}

export function validateDeploymentStatusUpdate(deployment: KubeObject, old: KubeObject): FieldError[] {
  const status = fieldsOf(deployment["status"]);
  const parts = ["updatedReplicas", "readyReplicas", "availableReplicas"];
  const counts = [
    "observedGeneration",
    "replicas",
    ...parts,
    "unavailableReplicas",
    "terminatingReplicas",
    "collisionCount",
  ];
  return [
    ...validateCounts(status, counts, "status"),
    ...validateParts(status, parts, "status"),
    ...validateCollisionCount(status, fieldsOf(old["status"]), "status"),
  ];
}

function validateStrategy(strategy: JsonObject, field: string): FieldError[] {
  const [type, rolling] = [textOf(strategy["type"]), strategy["rollingUpdate"]];
  switch (type) {
    case "Recreate":
      if (!isPresent(rolling)) return [];
      return [
        fieldError.forbidden(`${field}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'"),
      ];
    case "RollingUpdate":
      if (isPresent(rolling)) return validateRollingUpdate(fieldsOf(rolling), `${field}.rollingUpdate`);
      return [fieldError.required(`${field}.rollingUpdate`, "this should be defaulted and never be nil")];
    default: {
      const shown = internalForm(strategy, ["type", "rollingUpdate"]);
      return [fieldError.notSupported(field, shown, ["Recreate", "RollingUpdate"])];
    }
  }
}

/** Some replica more or some less, or nothing would ever be replaced. */
function validateRollingUpdate({ maxUnavailable, maxSurge }: JsonObject, field: string): FieldError[] {
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

function validateProgressDeadline(spec: JsonObject, field: string): FieldError[] {
  const deadline = spec["progressDeadlineSeconds"];
  if (!isPresent(deadline)) return [];
  const errors = validateNotNegative(deadline, field);
  if (numberOf(deadline) <= numberOf(spec["minReadySeconds"])) {
    errors.push(fieldError.invalid(field, deadline, "must be greater than minReadySeconds"));
  }
  return errors;
}
