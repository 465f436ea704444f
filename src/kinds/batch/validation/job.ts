import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, isJsonObject, type JsonValue } from "../../../api/json.ts";
import { matchesLabels } from "../../../api/label-selector.ts";
import { labelSelectorOf } from "../../../api/label-selector-object.ts";
import type { Job, JobSpec, JobStatus } from "../../../api/types/batch-v1.ts";
import type { Affinity, Container, PodSpec, PodTemplateSpec } from "../../../api/types/core-v1.ts";
import { validateDomainPrefixedPath } from "../../../api/validation/domain-names.ts";
import { validateNotNegative } from "../../../api/validation/field-rules.ts";
import { immutableText, validateImmutable } from "../../../api/validation/immutable.ts";
import { type InternalType, internalForm } from "../../../api/validation/internal-form.ts";
import { validateLabelSelector } from "../../../api/validation/label-selector.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { sortedLabels, validateSelectsTemplate } from "../../apps/validation/workload-selector.ts";
import { validatePodTemplate } from "../../core/validation/pod-template.ts";
import { validatePodFailurePolicy, validateSuccessPolicy } from "./job-policies.ts";

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

/** @param old what is replaced: labels of the template that came with a later release stay away */
export function validateJob(job: Job, old?: Job): FieldError[] {
  const { spec } = job;
  if (spec === undefined) return [];
  return [
    ...validateGeneratedSelector(job, spec, old?.spec),
    ...validateWholeSpec(spec),
    ...validatePodNames(job, spec),
  ];
}

/** Rejects changes of a job that runs. While it waits, the places and the resources of its pods may change. */
export function validateJobUpdate(job: Job, old: Job): FieldError[] {
  const { spec } = job;
  const stored = old.spec;
  if (spec === undefined || stored === undefined) return [];
  const immutable = (name: "completionMode" | "backoffLimitPerIndex" | "managedBy") =>
    validateImmutable(spec[name], stored[name], `spec.${name}`);
  return [
    // Upstream asks the rules of the spec here too, and reports its mistakes twice.
    ...validateWholeSpec(spec),
    ...validateCompletions(spec, stored),
    ...validateImmutable(spec.selector, stored.selector, "spec.selector"),
    ...validateTemplateUpdate(spec.template, stored, old.status ?? {}),
    ...immutable("completionMode"),
    ...validateImmutableStruct(
      spec.podFailurePolicy,
      stored.podFailurePolicy,
      "batch/v1.PodFailurePolicy",
      "spec.podFailurePolicy",
    ),
    ...immutable("backoffLimitPerIndex"),
    ...immutable("managedBy"),
    ...validateImmutableStruct(
      spec.successPolicy,
      stored.successPolicy,
      "batch/v1.SuccessPolicy",
      "spec.successPolicy",
    ),
  ];
}

/** Validates the spec of a job, or of the jobs that a CronJob makes, without the selector. */
export function validateJobSpec(spec: JobSpec, path: string): FieldError[] {
  const numbers = [
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
  ] as const;
  return [
    ...numbers.flatMap((name) => validateNotNegative(spec[name], `${path}.${name}`)),
    ...(spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined
      ? [fieldError.required(`${path}.backoffLimitPerIndex`, "when maxFailedIndexes is specified")]
      : []),
    ...validateManagedBy(spec.managedBy, `${path}.managedBy`),
    ...validateCompletionMode(spec, path),
    ...validatePodFailurePolicy(spec, `${path}.podFailurePolicy`),
    ...validateSuccessPolicy(spec, `${path}.successPolicy`),
    ...validateReplacementPolicy(spec, `${path}.podReplacementPolicy`),
    ...validatePodTemplate(spec.template, `${path}.template`),
    ...validateRestartPolicy(spec, `${path}.template.spec.restartPolicy`),
  ];
}

function validateWholeSpec(spec: JobSpec): FieldError[] {
  const { selector, template } = spec;
  return [
    ...validateJobSpec(spec, "spec"),
    ...(selector === undefined
      ? [fieldError.required("spec.selector")]
      : validateLabelSelector(selector, "spec.selector")),
    ...validateSelectsTemplate(selector ?? null, template, "spec.template"),
  ];
}

/** The server makes the selector out of the job's uid. A client that sets one of these labels has to guess right. */
function validateGeneratedSelector(
  job: Job,
  { manualSelector, selector, template }: JobSpec,
  stored?: JobSpec,
): FieldError[] {
  if (manualSelector === true || selector === undefined) return [];
  const { uid = "", name = "" } = job.metadata;
  const labels = template.metadata?.labels ?? {};
  const before = stored?.template.metadata?.labels;
  const newNames = [...jobUidLabels, ...jobNameLabels].filter((key) => key.includes("/"));
  const prefixed = stored === undefined || newNames.every((key) => Object.hasOwn(before ?? {}, key));
  const expected = (prefixed ? [0, 1] : [0]).flatMap((at): [string, string][] => [
    [jobUidLabels[at] as string, uid],
    [jobNameLabels[at] as string, name],
  ]);
  const parsed = labelSelectorOf(selector);
  const selects = parsed === undefined || matchesLabels(parsed, Object.fromEntries(expected));
  return [
    ...expected.flatMap(([key, value]) => validateHasLabel(labels, key, value)),
    ...(selects ? [] : [fieldError.invalid("spec.selector", selector, "`selector` not auto-generated")]),
  ];
}

function validateHasLabel(labels: Readonly<Record<string, string>>, key: string, value: string): FieldError[] {
  const field = `spec.template.metadata.labels[${key}]`;
  if (!Object.hasOwn(labels, key)) return [fieldError.required(field, `must be '${value}'`)];
  return labels[key] === value ? [] : [fieldError.invalid(field, sortedLabels(labels), `must be '${value}'`)];
}

/** Pods of an indexed job are named after it and their index, and the longest of these names is a host name. */
function validatePodNames(job: Job, { completions = 0, completionMode }: JobSpec): FieldError[] {
  if (completionMode !== "Indexed" || completions <= 0) return [];
  const name = job.metadata.name ?? "";
  const longest = `${name}-${completions - 1}`;
  if (dnsLabelProblems(longest).length === 0) return [];
  const text = `will not able to create pod with invalid DNS label: ${longest}`;
  return [fieldError.invalid("metadata.name", name, text)];
}

function validateManagedBy(value: string | undefined, field: string): FieldError[] {
  if (value === undefined) return [];
  const errors = validateDomainPrefixedPath(value, field);
  if (Buffer.byteLength(value) > managedByBytesMax) errors.push(fieldError.tooLong(field, managedByBytesMax));
  return errors;
}

function validateCompletionMode(spec: JobSpec, path: string): FieldError[] {
  const { completionMode: mode } = spec;
  if (mode === "Indexed") return validateIndexed(spec, path);
  if (mode !== undefined && !completionModes.includes(mode)) {
    return [fieldError.notSupported(`${path}.completionMode`, mode, completionModes)];
  }
  return (["backoffLimitPerIndex", "maxFailedIndexes"] as const)
    .filter((name) => spec[name] !== undefined)
    .map((name) => fieldError.invalid(`${path}.${name}`, spec[name], "requires indexed completion mode"));
}

function validateIndexed(spec: JobSpec, path: string): FieldError[] {
  const { completions, parallelism, maxFailedIndexes, backoffLimitPerIndex } = spec;
  const errors: FieldError[] = [];
  const atMost = (name: "parallelism" | "maxFailedIndexes", most: number, text: string) => {
    const value = spec[name];
    if (value === undefined || value <= most) return;
    errors.push(fieldError.invalid(`${path}.${name}`, value, `must be less than or equal to ${text}`));
  };
  if (completions === undefined) {
    errors.push(fieldError.required(`${path}.completions`, "when completion mode is Indexed"));
  }
  atMost("parallelism", indexedParallelismMax, `${indexedParallelismMax} when completion mode is Indexed`);
  if (completions !== undefined) atMost("maxFailedIndexes", completions, "completions");
  atMost("maxFailedIndexes", failedIndexesMax, String(failedIndexesMax));
  if ((completions ?? 0) <= manyCompletions || backoffLimitPerIndex === undefined) return errors;
  if (maxFailedIndexes === undefined) {
    const text = `must be specified when completions is above ${manyCompletions}`;
    errors.push(fieldError.required(`${path}.maxFailedIndexes`, text));
  }
  const when = `when completions are above ${manyCompletions} and used with backoff limit per index`;
  if (parallelism !== undefined) {
    atMost("parallelism", manyCompletionsParallelismMax, `${manyCompletionsParallelismMax} ${when}`);
  }
  atMost("maxFailedIndexes", manyCompletionsFailedIndexesMax, `${manyCompletionsFailedIndexesMax} ${when}`);
  return errors;
}

function validateReplacementPolicy(spec: JobSpec, field: string): FieldError[] {
  const { podReplacementPolicy: policy, podFailurePolicy } = spec;
  if (policy === undefined) return [];
  const supported = podFailurePolicy === undefined ? replacementPolicies : ["Failed"];
  return supported.includes(policy) ? [] : [fieldError.notSupported(field, policy, supported)];
}

/** Pods of a job have to finish, so they cannot always be restarted. */
function validateRestartPolicy({ template, podFailurePolicy }: JobSpec, field: string): FieldError[] {
  const { restartPolicy: policy = "" } = template.spec ?? {};
  if (policy === "" || policy === "Always") {
    return [fieldError.required(field, 'valid values: "OnFailure", "Never"')];
  }
  if (!endingRestartPolicies.includes(policy)) return [fieldError.notSupported(field, policy, endingRestartPolicies)];
  if (podFailurePolicy === undefined || policy === "Never") return [];
  return [fieldError.invalid(field, policy, 'only "Never" is supported when podFailurePolicy is specified')];
}

/** An indexed job can grow and shrink, if all of its indexes run at once. */
function validateCompletions(spec: JobSpec, stored: JobSpec): FieldError[] {
  const { completions, parallelism, completionMode } = spec;
  if (completionMode !== "Indexed") return validateImmutable(completions, stored.completions, "spec.completions");
  if (completions === stored.completions || completions === undefined || completions === parallelism) return [];
  return [fieldError.invalid("spec.completions", completions, "can only be modified in tandem with spec.parallelism")];
}

/** Rejects a changed template, except for a job that waits for its first pod or for the end of its last one. */
function validateTemplateUpdate(template: PodTemplateSpec, stored: JobSpec, status: JobStatus): FieldError[] {
  const isIdle = stored.suspend === true && hasNoPods(status);
  const old = isIdle ? withSchedulingOf(template, stored.template) : stored.template;
  if (!isIdle) {
    return validateImmutableStruct(template, old, "core/v1.PodTemplateSpec", "spec.template");
  }
  const pod = template.spec ?? { containers: null };
  const before = withResourcesOf(pod, old.spec ?? { containers: null });
  return validateImmutableStruct(pod, before, "core/v1.PodSpec", "spec.template.spec");
}

function hasNoPods({ startTime, conditions = [], active = 0 }: JobStatus): boolean {
  const isSuspended = conditions.some(({ type, status }) => type === "Suspended" && status === "True");
  return (startTime === undefined || isSuspended) && active === 0;
}

/** Returns the old template with the parts of the new one that determine where pods run. */
function withSchedulingOf(template: PodTemplateSpec, old: PodTemplateSpec): PodTemplateSpec {
  const pod: Partial<PodSpec> = template.spec ?? {};
  const oldPod = old.spec ?? { containers: null };
  const { nodeAffinity: _nodeAffinity, ...otherAffinity } = oldPod.affinity ?? {};
  const nodeAffinity = pod.affinity?.nodeAffinity;
  const affinity: Affinity = { ...otherAffinity, ...(nodeAffinity === undefined ? {} : { nodeAffinity }) };
  const {
    nodeSelector: _selector,
    tolerations: _tolerations,
    schedulingGates: _gates,
    affinity: _old,
    ...rest
  } = oldPod;
  const { nodeSelector, tolerations, schedulingGates } = pod;
  return {
    ...old,
    spec: {
      ...rest,
      ...(pod.affinity === undefined && Object.keys(affinity).length === 0 ? {} : { affinity }),
      ...(nodeSelector === undefined ? {} : { nodeSelector }),
      ...(tolerations === undefined ? {} : { tolerations }),
      ...(schedulingGates === undefined ? {} : { schedulingGates }),
    },
  };
}

/** The old pod with the resources that its containers ask for now. */
function withResourcesOf(pod: PodSpec, old: PodSpec): PodSpec {
  const initContainers = withResources(old.initContainers ?? [], pod.initContainers ?? []);
  return {
    ...old,
    containers: withResources(old.containers ?? [], pod.containers ?? []),
    ...(old.initContainers === undefined ? {} : { initContainers }),
  };
}

function withResources(old: readonly Container[], containers: readonly Container[]): Container[] {
  if (old.length !== containers.length) return [...old];
  return old.map((container, at) => {
    const { resources, name } = containers[at] as Container;
    if (name !== container.name) return container;
    const { resources: _resources, ...rest } = container;
    return resources === undefined ? rest : { ...rest, resources };
  });
}

/** @param type under which the value is shown */
function validateImmutableStruct<T extends object>(
  value: T | undefined,
  old: T | undefined,
  type: InternalType,
  field: string,
): FieldError[] {
  const shown = internalForm(value, type);
  return isSameForm(shown, internalForm(old, type)) ? [] : [fieldError.invalid(field, shown, immutableText)];
}

/** Compares internal forms. An empty list or map equals none. */
function isSameForm(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (isNothing(a) || isNothing(b)) return isNothing(a) && isNothing(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, at) => isSameForm(item, b[at]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return equalJson(a, b);
  return Object.keys({ ...a, ...b }).every((key) => isSameForm(a[key], b[key]));
}

function isNothing(value: JsonValue | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || value === null || (isJsonObject(value) && Object.keys(value).length === 0);
}
