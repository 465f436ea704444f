import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import {
  intOrPercentValue,
  validateIntOrPercent,
  validateNotMoreThan100Percent,
} from "../../../api/validation/int-or-percent.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { isEmptySelector, validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { isPresent, objectsOf, textOf, validateNotNegative } from "../../../api/validation/fields.ts";
import { validateLastingTemplate, validatePodTemplate } from "../../core/validation/pod-template.ts";
import { validateCollisionCount, validateCounts } from "./replica-status.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateSelectsTemplate } from "./workload-selector.ts";

export function validateDaemonSet(set: KubeObject): FieldError[] {
  const spec = fieldsOf(set["spec"]);
  const { selector, template } = spec;
  return [
    ...validateLabelSelector(selector, "spec.selector"),
    ...validateSelectsTemplate(selector, template, "spec.template"),
    ...(isPresent(selector) && isEmptySelector(selector)
      ? [fieldError.invalid("spec.selector", selector, "empty selector is invalid for daemonset")]
      : []),
    ...validatePodTemplate(template, "spec.template"),
    ...validateReadOnlyDisks(fieldsOf(fieldsOf(template)["spec"])["volumes"], "spec.template.spec.volumes"),
    ...validateLastingTemplate(template, "spec.template", "DaemonSet"),
    ...validateNotNegative(spec["minReadySeconds"], "spec.minReadySeconds"),
    ...validateUpdateStrategy(fieldsOf(spec["updateStrategy"]), "spec.updateStrategy"),
    ...validateNotNegative(spec["revisionHistoryLimit"], "spec.revisionHistoryLimit"),
  ];
}

export function validateDaemonSetStatusUpdate(set: KubeObject, old: KubeObject): FieldError[] {
  const status = fieldsOf(set["status"]);
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
  ];
  return [
    ...validateCounts(status, counts, "status"),
    ...validateCollisionCount(status, fieldsOf(old["status"]), "status"),
  ];
}

/** Its pods run on many nodes, and only one of those can write to such a disk. */
function validateReadOnlyDisks(volumes: JsonValue | undefined, field: string): FieldError[] {
  return validateEach(objectsOf(volumes), (volume, at) => {
    const disk = volume["gcePersistentDisk"];
    if (!isPresent(disk) || fieldsOf(disk)["readOnly"] === true) return [];
    const text =
      "must be true for replicated pods > 1; GCE PD can only be mounted on multiple machines if it is read-only";
    return [fieldError.invalid(`${field}[${at}].gcePersistentDisk.readOnly`, false, text)];
  });
}

function validateUpdateStrategy(strategy: JsonObject, field: string): FieldError[] {
  const [type, rolling] = [textOf(strategy["type"]), strategy["rollingUpdate"]];
  if (type === "OnDelete") return [];
  if (type === "RollingUpdate") {
    if (!isPresent(rolling)) return [fieldError.required(`${field}.rollingUpdate`)];
    return validateRollingUpdate(fieldsOf(rolling), `${field}.rollingUpdate`);
  }
  const shown = internalForm(strategy, ["type", "rollingUpdate"]);
  return [fieldError.notSupported(field, shown, ["RollingUpdate", "OnDelete"])];
}

/** Either the old pod goes first or the new one comes first. */
function validateRollingUpdate({ maxUnavailable, maxSurge }: JsonObject, field: string): FieldError[] {
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
