import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { labelSelectorOf } from "../../../api/label-selector-object.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import {
  intOrPercentValue,
  validateIntOrPercent,
  validateNotMoreThan100Percent,
} from "../../../api/validation/int-or-percent.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { isPresent, textOf, validateNotNegative, validateText } from "../../../api/validation/fields.ts";
import { validateLastingTemplate, validateTemplateMeta } from "../../core/validation/pod-template.ts";
import { validateCollisionCount, validateCounts, validateParts } from "./replica-status.ts";
import { validateSelectsTemplate, validateWorkloadSelector } from "./workload-selector.ts";

const managementPolicies = ["OrderedReady", "Parallel"];
const retentionPolicies = ["Retain", "Delete"];
/** What an update may change. */
const changeable = [
  "replicas",
  "template",
  "updateStrategy",
  "minReadySeconds",
  "ordinals",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
];

/** @param old what is replaced: a service name that came before its rule stays */
export function validateStatefulSet(set: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(set["spec"]);
  const retention = spec["persistentVolumeClaimRetentionPolicy"];
  return [
    ...validateManagementPolicy(textOf(spec["podManagementPolicy"]), "spec.podManagementPolicy"),
    ...validateUpdateStrategy(fieldsOf(spec["updateStrategy"]), "spec.updateStrategy"),
    ...(isPresent(retention)
      ? validateRetention(fieldsOf(retention), "spec.persistentVolumeClaimRetentionPolicy")
      : []),
    ...validateNotNegative(spec["replicas"], "spec.replicas"),
    ...validateNotNegative(spec["minReadySeconds"], "spec.minReadySeconds"),
    ...validateNotNegative(fieldsOf(spec["ordinals"])["start"], "spec.ordinals.start"),
    ...(old === undefined ? validateText(spec["serviceName"], dnsLabelProblems, "spec.serviceName") : []),
    ...validateTemplate(spec["selector"], spec["template"]),
  ];
}

export function validateStatefulSetUpdate(set: KubeObject, old: KubeObject): FieldError[] {
  const withoutChangeable = (object: KubeObject): JsonObject =>
    Object.fromEntries(Object.entries(fieldsOf(object["spec"])).filter(([name]) => !changeable.includes(name)));
  if (equalJson(withoutChangeable(set), withoutChangeable(old))) return [];
  const text =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [fieldError.forbidden("spec", text)];
}

export function validateStatefulSetStatusUpdate(set: KubeObject, old: KubeObject): FieldError[] {
  const status = fieldsOf(set["status"]);
  const parts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
  return [
    ...validateCounts(status, ["replicas", ...parts, "observedGeneration", "collisionCount"], "status"),
    ...validateParts(status, parts, "status", "status.readyReplicas"),
    ...validateCollisionCount(status, fieldsOf(old["status"]), "status"),
  ];
}

function validateManagementPolicy(policy: string, field: string): FieldError[] {
  if (policy === "") return [fieldError.required(field)];
  if (managementPolicies.includes(policy)) return [];
  return [fieldError.invalid(field, policy, "must be 'OrderedReady' or 'Parallel'")];
}

function validateUpdateStrategy(strategy: JsonObject, field: string): FieldError[] {
  const [type, rolling] = [textOf(strategy["type"]), strategy["rollingUpdate"]];
  switch (type) {
    case "":
      return [fieldError.required(field)];
    case "OnDelete":
      if (!isPresent(rolling)) return [];
      return [
        fieldError.invalid(
          `${field}.rollingUpdate`,
          internalForm(fieldsOf(rolling), ["partition", "maxUnavailable"]),
          "only allowed for updateStrategy 'RollingUpdate'",
        ),
      ];
    case "RollingUpdate":
      return isPresent(rolling) ? validateRollingUpdate(fieldsOf(rolling), `${field}.rollingUpdate`) : [];
    default: {
      const shown = internalForm(strategy, ["type", "rollingUpdate"]);
      return [fieldError.invalid(field, shown, "must be 'RollingUpdate' or 'OnDelete'")];
    }
  }
}

function validateRollingUpdate({ partition, maxUnavailable }: JsonObject, field: string): FieldError[] {
  const errors = validateNotNegative(partition, `${field}.partition`);
  if (!isPresent(maxUnavailable)) return errors;
  errors.push(...validateIntOrPercent(maxUnavailable, `${field}.maxUnavailable`));
  if (intOrPercentValue(maxUnavailable) === 0) {
    errors.push(fieldError.invalid(`${field}.maxUnavailable`, maxUnavailable, "cannot be 0"));
  }
  return [...errors, ...validateNotMoreThan100Percent(maxUnavailable, `${field}.maxUnavailable`)];
}

function validateRetention(policy: JsonObject, field: string): FieldError[] {
  return ["whenDeleted", "whenScaled"]
    .filter((name) => !retentionPolicies.includes(textOf(policy[name])))
    .map((name) => fieldError.notSupported(`${field}.${name}`, textOf(policy[name]), retentionPolicies));
}

/** Of the template only its metadata is judged: its volumes are not complete without the claim templates. */
function validateTemplate(selector: JsonValue | undefined, template: JsonValue | undefined): FieldError[] {
  const errors = validateWorkloadSelector(selector, "statefulset", "spec.selector");
  const isSelector = labelSelectorOf(selector) !== undefined;
  return [
    ...errors,
    ...(isSelector
      ? [
          ...validateSelectsTemplate(selector, template, "spec.template"),
          ...validateTemplateMeta(fieldsOf(template), "spec.template"),
        ]
      : [fieldError.invalid("spec.selector", selector)]),
    ...validateLastingTemplate(template, "spec.template", "StatefulSet"),
  ];
}
