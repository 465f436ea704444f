import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import { isPresent, numberOf } from "../../../api/json-reading.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type {
  PodReadinessGate,
  PodSchedulingGate,
  PodSchedulingGroup,
  PodSpec,
  ResourceList,
} from "../../../api/types/core-v1.ts";
import { validateRange, validateRequiredChoice, validateText } from "../../../api/validation/field-rules.ts";
import { validateLabels } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateAffinity } from "./affinity.ts";
import { type ContainerContext, containersOf, validateContainers, validateInitContainers } from "./container.ts";
import { validateHostNetworkPorts } from "./container-ports.ts";
import { validateFileVariables } from "./environment.ts";
import { validateEphemeralContainers } from "./ephemeral-containers.ts";
import { validateDnsConfig, validateHostAliases } from "./pod-dns.ts";
import { validatePodOs } from "./pod-os.ts";
import { validatePodResourceClaims, validatePodResources } from "./pod-resources.ts";
import { validateHostUsers, validatePodSecurityContext } from "./pod-security-context.ts";
import { validateResourceRequirements } from "./resource-requirements.ts";
import { validateTolerations } from "./tolerations.ts";
import { validateTopologySpread } from "./topology-spread.ts";
import { validateVolumes } from "./volume.ts";
import { validateHostProcesses } from "./windows-options.ts";

export const restartPolicies: readonly string[] = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
export const preemptionPolicies: readonly string[] = ["PreemptLowerPriority", "Never"];
const deadlineRange = { min: 1, max: 2_147_483_647 };
const hostnameBytesMax = 64;

export interface PodSpecContext {
  /** False for a template, whose pods get missing values when they are created. */
  readonly isPod: boolean;
  /** Empty for a template, and for a pod that has no name yet. */
  readonly podName: string;
}

/** Validates the spec of a pod or of a pod template; defaults are filled in. Errors come in upstream's order. */
export function validatePodSpec(spec: PodSpec, { isPod, podName }: PodSpecContext, path: string): FieldError[] {
  const { volumes, errors } = validateVolumes(spec.volumes ?? [], { podName, isPod }, `${path}.volumes`);
  const claims = new Set((spec.resourceClaims ?? []).map(({ name }) => name));
  claims.delete("");
  const { terminationGracePeriodSeconds: grace, preemptionPolicy, overhead } = spec;
  const context: ContainerContext = {
    volumes,
    claims,
    restartPolicy: spec.restartPolicy ?? "",
    gracePeriodSeconds: grace === undefined ? undefined : numberOf(grace),
    hostUsers: spec.hostUsers !== false,
    os: spec.os?.name ?? "",
  };
  const named = (name: "serviceAccountName" | "nodeName" | "priorityClassName") =>
    validateText(spec[name], dnsSubdomainProblems, `${path}.${name}`);
  return [
    ...(grace === undefined ? [fieldError.required(`${path}.terminationGracePeriodSeconds`)] : []),
    ...errors,
    ...validatePodResourceClaims(spec.resourceClaims ?? [], `${path}.resourceClaims`),
    ...validateAllContainers(spec, context, path),
    ...validatePodResources(spec, claims, `${path}.resources`),
    ...validateHostPorts(spec, isPod, path),
    ...validateRequiredChoice(spec.restartPolicy, restartPolicies, `${path}.restartPolicy`),
    ...validateRequiredChoice(spec.dnsPolicy, dnsPolicies, `${path}.dnsPolicy`),
    ...validateLabels(spec.nodeSelector, `${path}.nodeSelector`),
    ...validatePodSecurityContext(spec, `${path}.securityContext`),
    ...validateAffinity(spec.affinity ?? {}, `${path}.affinity`),
    ...validateDnsConfig(spec, `${path}.dnsConfig`),
    ...validateReadinessGates(spec.readinessGates ?? [], `${path}.readinessGates`),
    ...validateSchedulingGates(spec.schedulingGates ?? [], `${path}.schedulingGates`),
    ...validateTopologySpread(spec.topologySpreadConstraints ?? [], `${path}.topologySpreadConstraints`),
    ...validateHostProcesses(spec, containersOf(spec, path), path),
    ...validateHostUsers(spec, path),
    ...validateHostnameOverride(spec, `${path}.hostnameOverride`),
    ...named("serviceAccountName"),
    ...named("nodeName"),
    ...validateRange(spec.activeDeadlineSeconds, deadlineRange, `${path}.activeDeadlineSeconds`),
    ...validateText(spec.hostname, dnsLabelProblems, `${path}.hostname`),
    ...validateText(spec.subdomain, dnsLabelProblems, `${path}.subdomain`),
    ...validateTolerations(spec.tolerations, `${path}.tolerations`),
    ...validateHostAliases(spec.hostAliases, `${path}.hostAliases`),
    ...named("priorityClassName"),
    ...validateRuntimeClassName(spec.runtimeClassName, `${path}.runtimeClassName`),
    ...validatePreemptionPolicy(preemptionPolicy, `${path}.preemptionPolicy`),
    ...validateOverhead(overhead, `${path}.overhead`),
    ...validatePodOs(spec, path),
    ...validateSchedulingGroup(spec.schedulingGroup, `${path}.schedulingGroup`),
    ...validateFileVariables(containersOf(spec, path), spec),
  ];
}

export function validatePreemptionPolicy(policy: JsonValue | undefined, field: string): FieldError[] {
  return !isPresent(policy) ? [] : validateRequiredChoice(policy, preemptionPolicies, field);
}

/** Validates the overhead of a sandbox, which has the form of a container's limits. */
export function validateOverhead(overhead: ResourceList | undefined, field: string): FieldError[] {
  return overhead === undefined ? [] : validateResourceRequirements({ limits: overhead }, field);
}

function validateAllContainers(spec: PodSpec, context: ContainerContext, path: string): FieldError[] {
  const { initContainers = [] } = spec;
  const containers = spec.containers ?? [];
  return [
    ...validateContainers(containers, context, `${path}.containers`),
    ...validateInitContainers(initContainers, containers, context, `${path}.initContainers`),
    ...validateEphemeralContainers(spec, context, `${path}.ephemeralContainers`),
  ];
}

function validateHostPorts({ hostNetwork, containers }: PodSpec, isPod: boolean, path: string): FieldError[] {
  return hostNetwork === true ? validateHostNetworkPorts(containers ?? [], `${path}.containers`, isPod) : [];
}

function validateReadinessGates(gates: readonly PodReadinessGate[], field: string): FieldError[] {
  return validateEach(gates, ({ conditionType: type }, at) =>
    labelKeyErrors(type).map((problem) => fieldError.invalid(`${field}[${at}].conditionType`, type, problem)),
  );
}

function validateSchedulingGates(gates: readonly PodSchedulingGate[], field: string): FieldError[] {
  const seen = new Set<string>();
  return validateEach(gates, ({ name }, at) => {
    const errors = labelKeyErrors(name).map((problem) => fieldError.invalid(`${field}[${at}]`, name, problem));
    if (seen.has(name)) errors.push(fieldError.duplicate(`${field}[${at}]`, name));
    seen.add(name);
    return errors;
  });
}

function validateRuntimeClassName(name: string | undefined, field: string): FieldError[] {
  return name === undefined
    ? []
    : dnsSubdomainProblems(name).map((problem) => fieldError.invalid(field, name, problem));
}

/** Validates the host name that overrides all others, and so cannot be combined with them. */
function validateHostnameOverride(spec: PodSpec, field: string): FieldError[] {
  const { hostnameOverride: name, setHostnameAsFQDN, hostNetwork } = spec;
  if (name === undefined) return [];
  const errors: FieldError[] = [];
  if (setHostnameAsFQDN === true) {
    errors.push(fieldError.forbidden(field, "may not be specified when setHostnameAsFQDN is true"));
  }
  if (hostNetwork === true) {
    errors.push(fieldError.forbidden(field, "may not be specified when hostNetwork is true"));
  }
  if (Buffer.byteLength(name) > hostnameBytesMax) errors.push(fieldError.tooLong(field, hostnameBytesMax));
  return [...errors, ...dnsSubdomainProblems(name).map((problem) => fieldError.invalid(field, name, problem))];
}

function validateSchedulingGroup(group: PodSchedulingGroup | undefined, field: string): FieldError[] {
  if (group === undefined) return [];
  const { podGroupName: name } = group;
  const nameField = `${field}.podGroupName`;
  if (name === undefined) return [fieldError.invalid(nameField, null, "must specify one of: `podGroupName`")];
  return dnsSubdomainProblems(name).map((problem) => fieldError.invalid(nameField, name, problem));
}
