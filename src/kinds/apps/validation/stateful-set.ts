import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson } from "../../../api/json.ts";
import { labelSelectorOf } from "../../../api/label-selector-object.ts";
import type {
  RollingUpdateStatefulSetStrategy,
  StatefulSet,
  StatefulSetPersistentVolumeClaimRetentionPolicy,
  StatefulSetSpec,
  StatefulSetUpdateStrategy,
} from "../../../api/types/apps-v1.ts";
import type { PodTemplateSpec, Volume } from "../../../api/types/core-v1.ts";
import { validateNotNegative, validateText } from "../../../api/validation/field-rules.ts";
import {
  intOrPercentValue,
  validateIntOrPercent,
  validateNotMoreThan100Percent,
} from "../../../api/validation/int-or-percent.ts";
import { internalForm } from "../../../api/validation/internal-form.ts";
import { shownSelector } from "../../../api/validation/label-selector.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateClaimSpec } from "../../core/validation/persistent-volume-claim.ts";
import {
  validateLastingTemplate,
  validatePodTemplate,
  validateTemplateMeta,
} from "../../core/validation/pod-template.ts";
import { validateCollisionCount, validateCounts, validateParts } from "./replica-status.ts";
import { validateSelectsTemplate, validateWorkloadSelector } from "./workload-selector.ts";

const managementPolicies = ["OrderedReady", "Parallel"];
const retentionPolicies = ["Retain", "Delete"];
const rejectedUpdateText =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

/** @param old what is replaced: a service name, claim templates or a template that came before their rules stay */
export function validateStatefulSet({ spec }: StatefulSet, old?: StatefulSet): FieldError[] {
  if (spec === undefined) return [];
  const keepsTemplate = old?.spec !== undefined && validateSpec(old.spec, true, false).length > 0;
  return validateSpec(spec, old !== undefined, keepsTemplate);
}

export function validateStatefulSetUpdate(set: StatefulSet, old: StatefulSet): FieldError[] {
  if (equalJson(fixedPart(set), fixedPart(old))) return [];
  return [fieldError.forbidden("spec", rejectedUpdateText)];
}

export function validateStatefulSetStatusUpdate({ status }: StatefulSet, old: StatefulSet): FieldError[] {
  if (status === undefined) return [];
  const parts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"] as const;
  return [
    ...validateCounts(status, ["replicas", ...parts, "observedGeneration", "collisionCount"], "status"),
    ...validateParts(status, parts, "status", "status.readyReplicas"),
    ...validateCollisionCount(status, old.status ?? {}, "status"),
  ];
}

function validateSpec(spec: StatefulSetSpec, isUpdate: boolean, keepsTemplate: boolean): FieldError[] {
  const { persistentVolumeClaimRetentionPolicy: retention, volumeClaimTemplates = [], serviceName } = spec;
  return [
    ...validateManagementPolicy(spec.podManagementPolicy ?? "", "spec.podManagementPolicy"),
    ...validateUpdateStrategy(spec.updateStrategy ?? {}, "spec.updateStrategy"),
    ...(retention === undefined ? [] : validateRetention(retention, "spec.persistentVolumeClaimRetentionPolicy")),
    ...(isUpdate
      ? []
      : validateEach(volumeClaimTemplates, ({ spec: claim = {} }, at) =>
          validateClaimSpec(claim, `spec.volumeClaimTemplates[${at}].spec`),
        )),
    ...validateNotNegative(spec.replicas, "spec.replicas"),
    ...validateNotNegative(spec.minReadySeconds, "spec.minReadySeconds"),
    ...validateNotNegative(spec.ordinals?.start, "spec.ordinals.start"),
    ...(isUpdate ? [] : validateText(serviceName, dnsLabelProblems, "spec.serviceName")),
    ...validateWorkloadSelector(spec.selector, "statefulset", "spec.selector"),
    ...validateTemplate(spec, keepsTemplate),
    ...validateLastingTemplate(spec.template, "spec.template", "StatefulSet"),
  ];
}

/** The part of the spec that no update may change. */
function fixedPart({ spec }: StatefulSet): Partial<StatefulSetSpec> {
  const {
    replicas: _replicas,
    template: _template,
    updateStrategy: _updateStrategy,
    minReadySeconds: _minReadySeconds,
    ordinals: _ordinals,
    revisionHistoryLimit: _revisionHistoryLimit,
    persistentVolumeClaimRetentionPolicy: _retention,
    ...fixed
  } = spec ?? ({} as Partial<StatefulSetSpec>);
  return fixed;
}

function validateManagementPolicy(policy: string, field: string): FieldError[] {
  if (policy === "") return [fieldError.required(field)];
  if (managementPolicies.includes(policy)) return [];
  return [fieldError.invalid(field, policy, "must be 'OrderedReady' or 'Parallel'")];
}

function validateUpdateStrategy(strategy: StatefulSetUpdateStrategy, field: string): FieldError[] {
  const { type = "", rollingUpdate } = strategy;
  switch (type) {
    case "":
      return [fieldError.required(field)];
    case "OnDelete": {
      if (rollingUpdate === undefined) return [];
      const shown = internalForm(rollingUpdate, "apps/v1.RollingUpdateStatefulSetStrategy");
      return [fieldError.invalid(`${field}.rollingUpdate`, shown, "only allowed for updateStrategy 'RollingUpdate'")];
    }
    case "RollingUpdate":
      return rollingUpdate === undefined ? [] : validateRollingUpdate(rollingUpdate, `${field}.rollingUpdate`);
    default: {
      const shown = internalForm(strategy, "apps/v1.StatefulSetUpdateStrategy");
      return [fieldError.invalid(field, shown, "must be 'RollingUpdate' or 'OnDelete'")];
    }
  }
}

function validateRollingUpdate(
  { partition, maxUnavailable }: RollingUpdateStatefulSetStrategy,
  field: string,
): FieldError[] {
  const errors = validateNotNegative(partition, `${field}.partition`);
  if (maxUnavailable === undefined) return errors;
  errors.push(...validateIntOrPercent(maxUnavailable, `${field}.maxUnavailable`));
  if (intOrPercentValue(maxUnavailable) === 0) {
    errors.push(fieldError.invalid(`${field}.maxUnavailable`, maxUnavailable, "cannot be 0"));
  }
  return [...errors, ...validateNotMoreThan100Percent(maxUnavailable, `${field}.maxUnavailable`)];
}

function validateRetention(policy: StatefulSetPersistentVolumeClaimRetentionPolicy, field: string): FieldError[] {
  return (["whenDeleted", "whenScaled"] as const)
    .filter((name) => !retentionPolicies.includes(policy[name] ?? ""))
    .map((name) => fieldError.notSupported(`${field}.${name}`, policy[name] ?? "", retentionPolicies));
}

function validateTemplate(spec: StatefulSetSpec, keepsTemplate: boolean): FieldError[] {
  const { selector } = spec;
  if (labelSelectorOf(selector ?? undefined) === undefined)
    return [fieldError.invalid("spec.selector", shownSelector(selector))];
  const template = completeTemplate(spec);
  return [
    ...validateSelectsTemplate(selector, template, "spec.template"),
    ...(keepsTemplate ? [] : validatePodTemplate(template, "spec.template")),
    ...validateTemplateMeta(template, "spec.template"),
  ];
}

/** The template as the controller makes pods from it: with the claims as volumes, and host names of its own. */
function completeTemplate({ template, volumeClaimTemplates = [] }: StatefulSetSpec): PodTemplateSpec {
  const { subdomain: _subdomain, hostname: _hostname, ...pod } = template.spec ?? { containers: null };
  if (volumeClaimTemplates.length === 0) return { ...template, spec: pod };
  const names = new Set(volumeClaimTemplates.map(({ metadata }) => metadata?.name ?? ""));
  const claims = [...names].map((name): Volume => ({ name, persistentVolumeClaim: { claimName: name } }));
  const volumes = (pod.volumes ?? []).filter(({ name }) => !names.has(name));
  return { ...template, spec: { ...pod, volumes: [...claims, ...volumes] } };
}
