import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { Container, ContainerResizePolicy, PodSpec } from "../../../api/types/core-v1.ts";
import { validateRequiredChoice, validateText } from "../../../api/validation/field-rules.ts";
import { dnsLabelProblems } from "../../../api/validation/names.ts";
import { validateContainerResourceName } from "../../../api/validation/resource-name.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateContainerPorts, validateHostPortsUnique } from "./container-ports.ts";
import { validateInitRestartRules, validateRestartRules } from "./container-restart.ts";
import { validateEnvironment, validateEnvironmentSources } from "./environment.ts";
import type { AnyContainer, PlacedContainer } from "./placed-container.ts";
import { type ProbeKind, validateLifecycle, validateProbe } from "./probe.ts";
import { validateResourceRequirements } from "./resource-requirements.ts";
import { validateSecurityContext } from "./security-context.ts";
import { type VolumesByName, validateVolumeDevices, validateVolumeMounts } from "./volume-mounts.ts";

export const pullPolicies: readonly string[] = ["Always", "IfNotPresent", "Never"];
const messagePolicies = ["File", "FallbackToLogsOnError"];
const probeKinds: readonly ProbeKind[] = ["livenessProbe", "readinessProbe", "startupProbe"];
const resizableResources = ["cpu", "memory"];
const resizePolicies = ["NotRequired", "RestartContainer"];

/** Facts of the pod that the rules of its containers need. */
export interface ContainerContext {
  readonly volumes: VolumesByName;
  /** Names of the pod's resource claims. */
  readonly claims: ReadonlySet<string>;
  readonly restartPolicy: string;
  /** Undefined if the pod has no valid one. */
  readonly gracePeriodSeconds: number | undefined;
  /** Whether the pod shares its users with its host. */
  readonly hostUsers: boolean;
  /** `spec.os.name`. */
  readonly os: string;
}

/** Returns every container of a pod in the order of validation. */
export function containersOf(spec: Partial<PodSpec>, path: string): PlacedContainer[] {
  return (["initContainers", "containers", "ephemeralContainers"] as const).flatMap((list) =>
    (spec[list] ?? []).map((container: AnyContainer, at) => ({ container, field: `${path}.${list}[${at}]` })),
  );
}

/** Validates the main containers of a pod, of which there is at least one. */
export function validateContainers(
  containers: readonly Container[],
  context: ContainerContext,
  field: string,
): FieldError[] {
  if (containers.length === 0) return [fieldError.required(field)];
  const names = new Set<string>();
  return [
    ...validateEach(containers, (container, at) => [
      ...validateCommon(container, context, `${field}[${at}]`),
      ...validateNameUnique(container, names, `${field}[${at}].name`),
      ...validateHooksAndProbes(container, context, `${field}[${at}]`),
      ...validateRestartRules(container, `${field}[${at}]`),
    ]),
    ...validateHostPortsUnique(containers, field),
  ];
}

/** Validates the init containers. One that always restarts runs beside the main containers. */
export function validateInitContainers(
  containers: readonly Container[],
  others: readonly Container[],
  context: ContainerContext,
  field: string,
): FieldError[] {
  const names = new Set(others.map(({ name }) => name));
  return validateEach(containers, (container, at) => [
    ...validateCommon(container, context, `${field}[${at}]`),
    ...validateInitRestartRules(container, `${field}[${at}]`),
    ...validateNameUnique(container, names, `${field}[${at}].name`),
    // They run one after the other, so only ports of the same container conflict. Upstream names the first.
    ...validateHostPortsUnique([container], field),
    ...(isSidecar(container)
      ? validateHooksAndProbes(container, context, `${field}[${at}]`)
      : forbidHooksAndProbes(container, `${field}[${at}]`)),
    ...(isSidecar(container) ? [] : forbidRestartOnResize(container, `${field}[${at}].resizePolicy`)),
  ]);
}

/** Reports whether an init container keeps running beside the others. */
export function isSidecar({ restartPolicy }: Pick<Container, "restartPolicy">): boolean {
  return restartPolicy === "Always";
}

/** Validates the fields that all kinds of containers have. */
export function validateCommon(container: AnyContainer, context: ContainerContext, field: string): FieldError[] {
  const rules = { validateName: validateContainerResourceName, claims: context.claims };
  const { name, image = "", imagePullPolicy, terminationMessagePolicy, resources = {}, resizePolicy = [] } = container;
  return [
    ...(name === "" ? [fieldError.required(`${field}.name`)] : []),
    ...validateText(name, dnsLabelProblems, `${field}.name`),
    ...(image === "" ? [fieldError.required(`${field}.image`)] : []),
    ...validateRequiredChoice(terminationMessagePolicy, messagePolicies, `${field}.terminationMessagePolicy`),
    ...validateContainerPorts(container.ports ?? [], `${field}.ports`),
    ...validateEnvironment(container.env ?? [], `${field}.env`),
    ...validateEnvironmentSources(container.envFrom ?? [], `${field}.envFrom`),
    ...validateVolumeMounts(container, context.volumes, `${field}.volumeMounts`),
    ...validateVolumeDevices(container, context.volumes, `${field}.volumeDevices`),
    ...validateRequiredChoice(imagePullPolicy, pullPolicies, `${field}.imagePullPolicy`),
    ...validateResourceRequirements(resources, `${field}.resources`, rules),
    ...validateResizePolicy(resizePolicy, context.restartPolicy, `${field}.resizePolicy`),
    ...validateSecurityContext(container.securityContext, context, `${field}.securityContext`),
  ];
}

/** Rejects blanks around the image of a pod, which a node pulls. In a template the image may be a placeholder. */
export function validateImageOfPod({ image = "" }: AnyContainer, field: string): FieldError[] {
  if (image === image.trim()) return [];
  return [fieldError.invalid(`${field}.image`, image, "must not have leading or trailing whitespace")];
}

function validateNameUnique({ name }: AnyContainer, names: Set<string>, field: string): FieldError[] {
  if (names.has(name)) return [fieldError.duplicate(field, name)];
  names.add(name);
  return [];
}

function validateHooksAndProbes(container: Container, context: ContainerContext, field: string): FieldError[] {
  return [
    ...validateLifecycle(container.lifecycle, context, `${field}.lifecycle`),
    ...probeKinds.flatMap((kind) => validateProbe(container[kind], kind, `${field}.${kind}`)),
  ];
}

function forbidHooksAndProbes(container: Container, field: string): FieldError[] {
  return (["lifecycle", ...probeKinds] as const)
    .filter((name) => container[name] !== undefined)
    .map((name) =>
      fieldError.forbidden(`${field}.${name}`, "may not be set for init containers without restartPolicy=Always"),
    );
}

function forbidRestartOnResize({ resizePolicy = [] }: Container, field: string): FieldError[] {
  const text = "must not be set to 'RestartContainer' for non-sidecar initContainers";
  return validateEach(resizePolicy, ({ restartPolicy }, at) =>
    restartPolicy === "RestartContainer"
      ? [fieldError.invalid(`${field}[${at}].restartPolicy`, restartPolicy, text)]
      : [],
  );
}

/** Validates whether a container restarts when its resources change. Upstream names the list in all but one error. */
function validateResizePolicy(
  policies: readonly ContainerResizePolicy[],
  podPolicy: string,
  field: string,
): FieldError[] {
  const seen = new Set<string>();
  return validateEach(policies, ({ resourceName, restartPolicy }, at) => {
    const errors = seen.has(resourceName) ? [fieldError.duplicate(`${field}[${at}]`, resourceName)] : [];
    seen.add(resourceName);
    errors.push(...validateRequiredChoice(resourceName, resizableResources, field));
    errors.push(...validateRequiredChoice(restartPolicy, resizePolicies, field));
    if (podPolicy === "Never" && restartPolicy !== "NotRequired") {
      const text = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
      errors.push(fieldError.invalid(field, restartPolicy, text));
    }
    return errors;
  });
}
