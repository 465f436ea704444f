import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import { validateAffinity } from "./affinity.ts";
import { type ContainerContext, containersOf, validateContainers, validateInitContainers } from "./container.ts";
import { validateHostNetworkPorts } from "./container-ports.ts";
import { validateEphemeralContainers } from "./ephemeral-containers.ts";
import { fieldsOf } from "../../../api/validation/key-values.ts";
import { validateLabels } from "../../../api/validation/labels.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateDnsConfig, validateHostAliases } from "./pod-dns.ts";
import {
  isPresent,
  numberOf,
  objectsOf,
  textOf,
  validateRange,
  validateRequiredChoice,
  validateText,
} from "../../../api/validation/fields.ts";
import { validatePodOs } from "./pod-os.ts";
import { validatePodResourceClaims, validatePodResources } from "./pod-resources.ts";
import { validateHostUsers, validatePodSecurityContext } from "./pod-security-context.ts";
import { validateResourceRequirements } from "./resource-requirements.ts";
import { validateTolerations } from "./tolerations.ts";
import { validateTopologySpread } from "./topology-spread.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateVolumes } from "./volume.ts";
import { validateHostProcesses } from "./windows-options.ts";

export const restartPolicies: readonly string[] = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
export const preemptionPolicies: readonly string[] = ["PreemptLowerPriority", "Never"];
const deadlineRange = { min: 1, max: 2_147_483_647 };
const hostnameBytesMax = 64;

export interface PodSpecContext {
  /** False for the spec of a template: its pods get what is missing when they are made. */
  readonly isPod: boolean;
  /** Empty for a template, and for a pod that has no name yet. */
  readonly podName: string;
}

/** The spec of a pod or of a pod template; defaults are filled in. Errors come in upstream's order. */
export function validatePodSpec(spec: JsonObject, { isPod, podName }: PodSpecContext, path: string): FieldError[] {
  const { volumes, errors } = validateVolumes(spec["volumes"], { podName, isPod }, `${path}.volumes`);
  const claims = new Set(objectsOf(spec["resourceClaims"]).map((claim) => textOf(claim["name"])));
  claims.delete("");
  const grace = spec["terminationGracePeriodSeconds"];
  const context: ContainerContext = {
    volumes,
    claims,
    restartPolicy: textOf(spec["restartPolicy"]),
    gracePeriodSeconds: isPresent(grace) ? numberOf(grace) : undefined,
    hostUsers: spec["hostUsers"] !== false,
    os: textOf(fieldsOf(spec["os"])["name"]),
  };
  return [
    ...(isPresent(grace) ? [] : [fieldError.required(`${path}.terminationGracePeriodSeconds`)]),
    ...errors,
    ...validatePodResourceClaims(spec["resourceClaims"], `${path}.resourceClaims`),
    ...validateAllContainers(spec, context, path),
    ...validatePodResources(spec, claims, `${path}.resources`),
    ...validateHostPorts(spec, isPod, path),
    ...validateRequiredChoice(spec["restartPolicy"], restartPolicies, `${path}.restartPolicy`),
    ...validateRequiredChoice(spec["dnsPolicy"], dnsPolicies, `${path}.dnsPolicy`),
    ...validateLabels(fieldsOf(spec["nodeSelector"]) as Record<string, string>, `${path}.nodeSelector`),
    ...validatePodSecurityContext(spec, `${path}.securityContext`),
    ...validateAffinity(spec["affinity"], `${path}.affinity`),
    ...validateDnsConfig(spec, `${path}.dnsConfig`),
    ...validateReadinessGates(spec["readinessGates"], `${path}.readinessGates`),
    ...validateSchedulingGates(spec["schedulingGates"], `${path}.schedulingGates`),
    ...validateTopologySpread(spec["topologySpreadConstraints"], `${path}.topologySpreadConstraints`),
    ...validateHostProcesses(spec, containersOf(spec, path), path),
    ...validateHostUsers(spec, path),
    ...["serviceAccountName", "nodeName"].flatMap((name) =>
      validateText(spec[name], dnsSubdomainProblems, `${path}.${name}`),
    ),
    ...validateRange(spec["activeDeadlineSeconds"], deadlineRange, `${path}.activeDeadlineSeconds`),
    ...["hostname", "subdomain"].flatMap((name) => validateText(spec[name], dnsLabelProblems, `${path}.${name}`)),
    ...validateHostnameOverride(spec, `${path}.hostnameOverride`),
    ...validateTolerations(spec["tolerations"], `${path}.tolerations`),
    ...validateHostAliases(spec["hostAliases"], `${path}.hostAliases`),
    ...validateText(spec["priorityClassName"], dnsSubdomainProblems, `${path}.priorityClassName`),
    ...validateRuntimeClassName(spec["runtimeClassName"], `${path}.runtimeClassName`),
    ...validatePreemptionPolicy(spec["preemptionPolicy"], `${path}.preemptionPolicy`),
    ...validateOverhead(spec["overhead"], `${path}.overhead`),
    ...validatePodOs(spec, path),
  ];
}

export function validatePreemptionPolicy(value: JsonValue | undefined, field: string): FieldError[] {
  return isPresent(value) ? validateRequiredChoice(value, preemptionPolicies, field) : [];
}

/** What a sandbox takes for itself, written like limits of a container. */
export function validateOverhead(value: JsonValue | undefined, field: string): FieldError[] {
  return isPresent(value) ? validateResourceRequirements({ limits: value }, field) : [];
}

function validateAllContainers(spec: JsonObject, context: ContainerContext, path: string): FieldError[] {
  const containers = objectsOf(spec["containers"]);
  const initContainers = objectsOf(spec["initContainers"]);
  return [
    ...validateContainers(containers, context, `${path}.containers`),
    ...validateInitContainers(initContainers, containers, context, `${path}.initContainers`),
    ...validateEphemeralContainers(spec, context, `${path}.ephemeralContainers`),
  ];
}

function validateHostPorts(spec: JsonObject, isPod: boolean, path: string): FieldError[] {
  if (spec["hostNetwork"] !== true) return [];
  return validateHostNetworkPorts(objectsOf(spec["containers"]), `${path}.containers`, isPod);
}

function validateReadinessGates(value: JsonValue | undefined, field: string): FieldError[] {
  return validateEach(objectsOf(value), (gate, at) => {
    const type = textOf(gate["conditionType"]);
    return labelKeyErrors(type).map((problem) => fieldError.invalid(`${field}[${at}].conditionType`, type, problem));
  });
}

function validateSchedulingGates(value: JsonValue | undefined, field: string): FieldError[] {
  const seen = new Set<string>();
  return validateEach(objectsOf(value), (gate, at) => {
    const name = textOf(gate["name"]);
    const errors = labelKeyErrors(name).map((problem) => fieldError.invalid(`${field}[${at}]`, name, problem));
    if (seen.has(name)) errors.push(fieldError.duplicate(`${field}[${at}]`, name));
    seen.add(name);
    return errors;
  });
}

function validateRuntimeClassName(value: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(value)) return [];
  return dnsSubdomainProblems(textOf(value)).map((problem) => fieldError.invalid(field, value, problem));
}

/** A name that wins over all others that the pod could have, and so goes with none of them. */
function validateHostnameOverride(spec: JsonObject, field: string): FieldError[] {
  const name = spec["hostnameOverride"];
  if (!isPresent(name)) return [];
  const text = textOf(name);
  const errors: FieldError[] = [];
  if (spec["setHostnameAsFQDN"] === true) {
    errors.push(fieldError.forbidden(field, "cannot be set when setHostnameAsFQDN is true"));
  }
  if (spec["hostNetwork"] === true) errors.push(fieldError.forbidden(field, "cannot be set when hostNetwork is true"));
  if (Buffer.byteLength(text) > hostnameBytesMax) errors.push(fieldError.tooLong(field, hostnameBytesMax));
  return [...errors, ...dnsSubdomainProblems(text).map((problem) => fieldError.invalid(field, text, problem))];
}
