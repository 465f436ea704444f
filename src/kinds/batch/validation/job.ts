import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { cloneJson, equalJson, type JsonObject, type JsonValue } from "../../../api/json.ts";
import { matchesLabels } from "../../../api/label-selector.ts";
import { labelSelectorOf } from "../../../api/label-selector-object.ts";
import type { KubeObject } from "../../../api/object-meta.ts";
import { validateDomainPrefixedPath } from "../../../api/validation/domain-names.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validatePodFailurePolicy, validateSuccessPolicy } from "./job-policies.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { isPresent, numberOf, objectsOf, textOf, validateNotNegative } from "../../../api/validation/fields.ts";
import { labelsOf, validatePodTemplate } from "../../core/validation/pod-template.ts";
import { validateSelectsTemplate } from "../../apps/validation/workload-selector.ts";

/** Labels that a job puts on its pods: what the job is called, and which one of that name it is. */
export const jobNameLabels: readonly string[] = ["job-name", "batch.kubernetes.io/job-name"];
export const jobUidLabels: readonly string[] = ["controller-uid", "batch.kubernetes.io/controller-uid"];

const completionModes = ["NonIndexed", "Indexed"];
const replacementPolicies = ["Failed", "TerminatingOrFailed"];
const endingRestartPolicies = ["OnFailure", "Never"];
const managedByBytesMax = 63;
const indexedParallelismMax = 100_000;
const failedIndexesMax = 100_000;
/** With more completions than this, and limits for each index, the lists in the status have to stay short. */
const manyCompletions = 100_000;
const manyCompletionsParallelismMax = 10_000;
const manyCompletionsFailedIndexesMax = 10_000;

export function validateJob(job: KubeObject, old?: KubeObject): FieldError[] {
  const spec = fieldsOf(job["spec"]);
  return [
    ...(old === undefined ? validateGeneratedSelector(job, spec) : []),
    ...validateJobSpec(spec, "spec"),
    ...validateSelector(spec),
    ...(old === undefined ? validatePodNames(job, spec) : []),
  ];
}

/** Almost nothing about a job changes while it runs; while it waits, where its pods go and what they ask for may. */
export function validateJobUpdate(job: KubeObject, old: KubeObject): FieldError[] {
  const [spec, stored] = [fieldsOf(job["spec"]), fieldsOf(old["spec"])];
  const fixed = ["completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"];
  return [
    ...validateCompletions(spec, stored),
    ...validateImmutable(spec["selector"], stored["selector"], "spec.selector"),
    ...validateTemplateUpdate(spec, stored, fieldsOf(old["status"])),
    ...fixed.flatMap((name) => validateImmutable(spec[name], stored[name], `spec.${name}`)),
  ];
}

/** The spec of a job, or of the jobs that a CronJob makes: all but the selector. */
export function validateJobSpec(spec: JsonObject, path: string): FieldError[] {
  const numbers = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ];
  return [
    ...numbers.flatMap((name) => validateNotNegative(spec[name], `${path}.${name}`)),
    ...(isPresent(spec["maxFailedIndexes"]) && !isPresent(spec["backoffLimitPerIndex"])
      ? [fieldError.required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified")]
      : []),
    ...validateManagedBy(spec["managedBy"], `${path}.managedBy`),
    ...validateCompletionMode(spec, path),
    ...validatePodFailurePolicy(spec, `${path}.podFailurePolicy`),
    ...validateSuccessPolicy(spec, `${path}.successPolicy`),
    ...validateReplacementPolicy(spec, `${path}.podReplacementPolicy`),
    ...validatePodTemplate(spec["template"], `${path}.template`),
    ...validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`),
  ];
}

/** The server makes the selector out of the job's uid; whoever sets one of these labels has to guess right. */
function validateGeneratedSelector(job: KubeObject, spec: JsonObject): FieldError[] {
  if (spec["manualSelector"] === true || !isPresent(spec["selector"])) return [];
  const { uid = "", name = "" } = job.metadata;
  const labels = labelsOf(fieldsOf(spec["template"]));
  const expected: [string, string][] = [0, 1].flatMap((at) => [
    [jobUidLabels[at] as string, uid],
    [jobNameLabels[at] as string, name],
  ]);
  const selector = labelSelectorOf(spec["selector"]);
  const selects = selector === undefined || matchesLabels(selector, Object.fromEntries(expected));
  return [
    ...expected.flatMap(([key, value]) => validateHasLabel(labels, key, value)),
    ...(selects ? [] : [fieldError.invalid("spec.selector", spec["selector"], "`selector` not auto-generated")]),
  ];
}

function validateHasLabel(labels: Readonly<Record<string, string>>, key: string, value: string): FieldError[] {
  const field = `spec.template.metadata.labels[${key}]`;
  if (!Object.hasOwn(labels, key)) return [fieldError.required(field, `must be '${value}'`)];
  return labels[key] === value ? [] : [fieldError.invalid(field, { ...labels }, `must be '${value}'`)];
}

function validateSelector({ selector, template }: JsonObject): FieldError[] {
  return [
    ...(isPresent(selector)
      ? validateLabelSelector(selector, "spec.selector")
      : [fieldError.required("spec.selector")]),
    ...validateSelectsTemplate(selector, template, "spec.template"),
  ];
}

/** Pods of an indexed job are named after it and their index, and the longest of these names is a host name. */
function validatePodNames(job: KubeObject, spec: JsonObject): FieldError[] {
  const completions = numberOf(spec["completions"]);
  if (spec["completionMode"] !== "Indexed" || completions <= 0) return [];
  const name = job.metadata.name ?? "";
  const longest = `${name}-${completions - 1}`;
  if (dnsLabelProblems(longest).length === 0) return [];
  const text = `will not able to create pod with invalid DNS label: ${longest}`;
  return [fieldError.invalid("metadata.name", name, text)];
}

function validateManagedBy(value: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  const errors = validateDomainPrefixedPath(textOf(value), field);
  if (Buffer.byteLength(textOf(value)) > managedByBytesMax) errors.push(fieldError.tooLong(field, managedByBytesMax));
  return errors;
}

function validateCompletionMode(spec: JsonObject, path: string): FieldError[] {
  const mode = spec["completionMode"];
  if (isPresent(mode) && !completionModes.includes(textOf(mode))) {
    return [fieldError.notSupported(`${path}.completionMode`, mode, completionModes)];
  }
  if (mode === "Indexed") return validateIndexed(spec, path);
  return ["backoffLimitPerIndex", "maxFailedIndexes"]
    .filter((name) => isPresent(spec[name]))
    .map((name) => fieldError.invalid(`${path}.${name}`, spec[name], "requires indexed completion mode"));
}

function validateIndexed(spec: JsonObject, path: string): FieldError[] {
  const { completions, parallelism, maxFailedIndexes } = spec;
  const errors: FieldError[] = [];
  const atMost = (name: string, most: number, text: string) => {
    if (isPresent(spec[name]) && numberOf(spec[name]) > most) {
      errors.push(fieldError.invalid(`${path}.${name}`, spec[name], `must be less than or equal to ${text}`));
    }
  };
  if (!isPresent(completions)) {
    errors.push(fieldError.required(`${path}.completions`, "when completion mode is Indexed"));
  }
  atMost("parallelism", indexedParallelismMax, `${indexedParallelismMax} when completion mode is Indexed`);
  if (isPresent(completions)) atMost("maxFailedIndexes", numberOf(completions), "completions");
  atMost("maxFailedIndexes", failedIndexesMax, String(failedIndexesMax));
  if (numberOf(completions) <= manyCompletions || !isPresent(spec["backoffLimitPerIndex"])) return errors;
  if (!isPresent(maxFailedIndexes)) {
    const text = `must be specified when completions is above ${manyCompletions}`;
    errors.push(fieldError.required(`${path}.maxFailedIndexes`, text));
  }
  const when = `when completions are above ${manyCompletions} and used with backoff limit per index`;
  if (isPresent(parallelism)) {
    atMost("parallelism", manyCompletionsParallelismMax, `${manyCompletionsParallelismMax} ${when}`);
  }
  atMost("maxFailedIndexes", manyCompletionsFailedIndexesMax, `${manyCompletionsFailedIndexesMax} ${when}`);
  return errors;
}

function validateReplacementPolicy(spec: JsonObject, field: string): FieldError[] {
  const policy = spec["podReplacementPolicy"];
  if (!isPresent(policy)) return [];
  const supported = isPresent(spec["podFailurePolicy"]) ? ["Failed"] : replacementPolicies;
  return supported.includes(textOf(policy)) ? [] : [fieldError.notSupported(field, policy, supported)];
}

/** Pods of a job come to an end. */
function validateRestartPolicy(spec: JsonObject, field: string): FieldError[] {
  const policy = textOf(fieldsOf(fieldsOf(spec["template"])["spec"])["restartPolicy"]);
  if (policy === "" || policy === "Always") {
    return [fieldError.required(field, 'valid values: "OnFailure", "Never"')];
  }
  if (!endingRestartPolicies.includes(policy)) return [fieldError.notSupported(field, policy, endingRestartPolicies)];
  if (!isPresent(spec["podFailurePolicy"]) || policy === "Never") return [];
  return [fieldError.invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')];
}

/** An indexed job can grow and shrink, if all of its indexes run at once. */
function validateCompletions(spec: JsonObject, stored: JsonObject): FieldError[] {
  const [completions, before] = [spec["completions"], stored["completions"]];
  if (spec["completionMode"] !== "Indexed") return validateImmutable(completions, before, "spec.completions");
  if (equalJson(completions, before) || !isPresent(completions) || completions === spec["parallelism"]) return [];
  return [fieldError.invalid("spec.completions", completions, "can only be modified in tandem with spec.parallelism")];
}

function validateTemplateUpdate(spec: JsonObject, stored: JsonObject, status: JsonObject): FieldError[] {
  const template = fieldsOf(spec["template"]);
  const old = cloneJson(fieldsOf(stored["template"]));
  if (stored["suspend"] === true && !isPresent(status["startTime"])) allowSchedulingChanges(template, old);
  if (stored["suspend"] === true) allowResourceChanges(template, old);
  return validateImmutable(template, old, "spec.template");
}

/** Takes into the old template what may differ as long as the job has never started. */
function allowSchedulingChanges(template: JsonObject, old: JsonObject): void {
  const [pod, oldPod] = [fieldsOf(template["spec"]), fieldsOf(old["spec"])];
  for (const name of ["nodeSelector", "tolerations", "schedulingGates"]) take(name, pod, oldPod);
  const [meta, oldMeta] = [fieldsOf(template["metadata"]), fieldsOf(old["metadata"])];
  for (const name of ["labels", "annotations"]) take(name, meta, oldMeta);
  const affinity = { ...fieldsOf(oldPod["affinity"]) };
  take("nodeAffinity", fieldsOf(pod["affinity"]), affinity);
  if (isPresent(pod["affinity"]) || Object.keys(affinity).length > 0) oldPod["affinity"] = affinity;
  else delete oldPod["affinity"];
}

/** Takes into the old template what containers of a suspended job ask for. */
function allowResourceChanges(template: JsonObject, old: JsonObject): void {
  const [pod, oldPod] = [fieldsOf(template["spec"]), fieldsOf(old["spec"])];
  for (const list of ["containers", "initContainers"]) {
    const containers = objectsOf(pod[list]);
    const before = objectsOf(oldPod[list]);
    if (containers.length !== before.length) continue;
    for (const [at, container] of before.entries()) {
      const now = containers[at] ?? {};
      if (now["name"] === container["name"]) take("resources", now, container);
    }
  }
}

function take(name: string, from: JsonObject, into: JsonObject): void {
  const value = from[name];
  if (value === undefined) delete into[name];
  else into[name] = value;
}
