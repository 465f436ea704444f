import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonValue } from "../../../api/json.ts";
import { labelKeyErrors } from "../../../api/label-syntax.ts";
import type {
  Container,
  ContainerStateTerminated,
  ContainerStatus,
  Pod,
  PodCondition,
  PodResourceClaimStatus,
  PodSpec,
  PodStatus,
} from "../../../api/types/core-v1.ts";
import { validateImmutable } from "../../../api/validation/immutable.ts";
import { validateDualStack } from "../../../api/validation/ip.ts";
import { dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateStrictIp } from "../../../api/validation/strict-ip.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { isSidecar } from "./container.ts";
import { validateAllocated, validateUsers } from "./container-status.ts";
import { validatePodAnnotations, validatePodAnnotationsUpdate } from "./pod-annotations.ts";

const systemConditions: ReadonlySet<string> = new Set(["PodScheduled", "Ready", "Initialized"]);
const containerLists = [
  ["containerStatuses", "containers"],
  ["initContainerStatuses", "initContainers"],
  ["ephemeralContainerStatuses", "ephemeralContainers"],
] as const;

/** Validates the status that a node reports. A container that has ended cannot run again unless it is restarted. */
export function validatePodStatusUpdate(pod: Pod, old: Pod): FieldError[] {
  const { status = {}, spec = { containers: null } } = pod;
  const stored = old.status ?? {};
  const annotations = pod.metadata.annotations ?? {};
  return [
    ...validatePodAnnotationsUpdate(annotations, old.metadata.annotations ?? {}, "metadata.annotations"),
    ...validatePodAnnotations(annotations, spec, "metadata.annotations"),
    ...validateConditions(status.conditions ?? [], "status.conditions"),
    ...validateNominatedNode(status, stored, old.spec?.nodeName ?? ""),
    ...validateObserved(status, "status"),
    ...validateImmutable(status.qosClass, stored.qosClass, "status.qosClass"),
    ...validateTransitions(status, stored, old.spec ?? { containers: null }),
    ...validateClaimStatuses(status.resourceClaimStatuses ?? [], spec, "status.resourceClaimStatuses"),
    ...validatePodIps(status, stored),
    ...validateHostIps(status, stored),
    ...containerLists.flatMap(([list]) => validateUsers(status[list] ?? [], spec, `status.${list}`)),
    ...containerLists.flatMap(([list, containers]) =>
      validateAllocated(status[list] ?? [], spec[containers] ?? [], `status.${list}`),
    ),
  ];
}

function validateConditions(conditions: readonly PodCondition[], field: string): FieldError[] {
  return validateEach(conditions, (condition, at) => {
    const { type } = condition;
    const problems = systemConditions.has(type) ? [] : labelKeyErrors(type);
    return [
      ...validateObserved(condition, `${field}[${at}]`),
      ...problems.map((problem) => fieldError.invalid(`${field}[${at}].Type`, type, problem)),
    ];
  });
}

function validateObserved(
  { observedGeneration: generation = 0 }: Pick<PodStatus, "observedGeneration">,
  field: string,
): FieldError[] {
  if (generation >= 0) return [];
  return [fieldError.invalid(`${field}.observedGeneration`, generation, "must be a non-negative integer")];
}

function validateNominatedNode(
  { nominatedNodeName: name = "" }: PodStatus,
  stored: PodStatus,
  nodeName: string,
): FieldError[] {
  if (name === "" || name === stored.nominatedNodeName) return [];
  const field = "status.nominatedNodeName";
  const errors = dnsSubdomainProblems(name).map((problem) => fieldError.invalid(field, name, problem));
  if (nodeName === "") return errors;
  return [...errors, fieldError.forbidden(field, "may not be set on pods that are already bound to a node")];
}

function validateTransitions(status: PodStatus, stored: PodStatus, spec: PodSpec): FieldError[] {
  const { restartPolicy = "", containers, initContainers = [] } = spec;
  const restartable = new Set(
    [...(containers ?? []), ...initContainers].filter(mayRestartByItself).map(({ name }) => name),
  );
  return containerLists.flatMap(([list]) =>
    validateEnded(status[list] ?? [], stored[list] ?? [], {
      field: `status.${list}`,
      // Nothing restarts an ephemeral container.
      policy: list === "ephemeralContainerStatuses" ? "Never" : restartPolicy,
      restartable,
    }),
  );
}

/** A container's own policy may allow a restart that the pod's does not. */
function mayRestartByItself(container: Container): boolean {
  const { restartPolicy, restartPolicyRules = [] } = container;
  return isSidecar(container) || restartPolicy === "OnFailure" || restartPolicyRules.length > 0;
}

function validateEnded(
  fresh: readonly ContainerStatus[],
  stored: readonly ContainerStatus[],
  { field, policy, restartable }: { field: string; policy: string; restartable: ReadonlySet<string> },
): FieldError[] {
  if (policy === "Always") return [];
  const runningNow = new Set(
    fresh.filter((container) => terminationOf(container) === undefined).map(({ name }) => name),
  );
  return validateEach(stored, (container, at) => {
    const ended = terminationOf(container);
    const { name } = container;
    if (ended === undefined || restartable.has(name) || !runningNow.has(name)) return [];
    if (policy === "OnFailure" && ended.exitCode !== 0) return [];
    return [fieldError.forbidden(`${field}[${at}].state`, "may not be transitioned to non-terminated state")];
  });
}

function terminationOf({ state }: ContainerStatus): ContainerStateTerminated | undefined {
  return state?.terminated;
}

function validateClaimStatuses(
  statuses: readonly PodResourceClaimStatus[],
  { resourceClaims = [] }: PodSpec,
  field: string,
): FieldError[] {
  const claims = new Set(resourceClaims.map(({ name }) => name));
  const seen = new Set<string>();
  return validateEach(statuses, ({ name, resourceClaimName }, at) => {
    const item = `${field}[${at}].name`;
    const errors: FieldError[] = [];
    if (!claims.has(name)) {
      errors.push(fieldError.invalid(item, name, "must match the name of an entry in `spec.resourceClaims`"));
    }
    if (seen.has(name)) errors.push(fieldError.duplicate(item, name));
    seen.add(name);
    if (resourceClaimName === undefined) return errors;
    const problems = dnsSubdomainProblems(resourceClaimName);
    return [...errors, ...problems.map((problem) => fieldError.invalid(item, resourceClaimName, problem))];
  });
}

/** Addresses that were stored before these rules are accepted. */
function validatePodIps({ podIPs = [] }: PodStatus, stored: PodStatus): FieldError[] {
  const addresses = podIPs.map(({ ip }) => ip);
  const known = new Set(stored.podIPs?.map(({ ip }) => ip));
  return [
    ...validateEach(addresses, (address, at) =>
      known.has(address) ? [] : validateStrictIp(address, `status.podIPs[${at}]`),
    ),
    ...validateDualStack(addresses, { value: shownAddresses(addresses), field: "status.podIPs" }),
  ];
}

/** Returns addresses as upstream's messages show them: its internal types have no JSON names. */
function shownAddresses(addresses: readonly string[]): JsonValue {
  return addresses.map((address) => ({ IP: address }));
}

function validateHostIps({ hostIPs = [], hostIP = "" }: PodStatus, stored: PodStatus): FieldError[] {
  const addresses = hostIPs.map(({ ip }) => ip);
  const known = new Set(stored.hostIPs?.map(({ ip }) => ip));
  const [first] = addresses;
  if (first === undefined) return [];
  return [
    ...(first === hostIP ? [] : [fieldError.invalid("status.hostIPs[0].ip", first, "must be equal to `hostIP`")]),
    ...validateEach(addresses, (address, at) =>
      known.has(address) ? [] : validateStrictIp(address, `status.hostIPs[${at}]`),
    ),
    ...validateDualStack(addresses, { value: shownAddresses(addresses), field: "status.hostIPs" }),
  ];
}
