import type { LifecycleHandler, PodSpec, Probe } from "../../api/types/core-v1.ts";
import { containersOf } from "../pod.ts";
import {
  containersWith,
  containerText,
  type PodCheck,
  plural,
  quoted,
  securityOf,
  settersText,
  sorted,
  type Violation,
} from "./violation.ts";

const defaultCapabilities = new Set([
  "AUDIT_WRITE",
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "MKNOD",
  "NET_BIND_SERVICE",
  "SETFCAP",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT",
]);
const appArmorAnnotationPrefix = "container.apparmor.security.beta.kubernetes.io/";
const seccompPodAnnotation = "seccomp.security.alpha.kubernetes.io/pod";
const seccompContainerAnnotationPrefix = "container.seccomp.security.alpha.kubernetes.io/";
const allowedProfileTypes = new Set<string | undefined>([undefined, "RuntimeDefault", "Localhost"]);

export const appArmorProfile: PodCheck = (pod) => {
  const podType = pod.spec.securityContext?.appArmorProfile?.type;
  const isBad = (type: string | undefined) => type !== undefined && !allowedProfileTypes.has(type);
  const containers = containersWith(pod, (container) => isBad(securityOf(container).appArmorProfile?.type));
  const annotations = Object.entries(pod.annotations)
    .filter(([key, value]) => key.startsWith(appArmorAnnotationPrefix) && !isAllowedAppArmor(value))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  const types = [podType, ...containersOf(pod.spec).map((container) => securityOf(container).appArmorProfile?.type)];
  const values = [...sorted(types.filter((type) => type !== undefined && isBad(type)) as string[]), ...annotations];
  if (values.length === 0) return undefined;
  const setters = settersText(isBad(podType), containers);
  const named = annotations.length === 0 ? "" : plural(annotations.length, "annotation");
  return {
    reason: plural(values.length, "forbidden AppArmor profile"),
    detail: `${[setters, named].filter((text) => text !== "").join(" and ")} must not set AppArmor profile type to ${quoted(values)}`,
  };
};

function isAllowedAppArmor(value: string): boolean {
  return value === "" || value === "runtime/default" || value.startsWith("localhost/");
}

export const capabilities: PodCheck = (pod) => {
  const added = (names: readonly string[] | undefined) =>
    (names ?? []).filter((name) => !defaultCapabilities.has(name));
  const containers = containersWith(pod, (container) => added(securityOf(container).capabilities?.add).length > 0);
  if (containers.length === 0) return undefined;
  const forbidden = containersOf(pod.spec).flatMap((container) => added(securityOf(container).capabilities?.add));
  return {
    reason: "non-default capabilities",
    detail: `${containerText(containers)} must not include ${quoted(sorted(forbidden))} in securityContext.capabilities.add`,
  };
};

export const hostNamespaces: PodCheck = ({ spec }) => {
  const used = (["hostNetwork", "hostPID", "hostIPC"] as const).filter((name) => spec[name] === true);
  if (used.length === 0) return undefined;
  return { reason: "host namespaces", detail: used.map((name) => `${name}=true`).join(", ") };
};

export const hostPathVolumes: PodCheck = ({ spec }) => {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name);
  if (names.length === 0) return undefined;
  return { reason: "hostPath volumes", detail: `${plural(names.length, "volume")} ${quoted(names)}` };
};

export const hostPorts: PodCheck = (pod) => {
  const portsOf = (ports: readonly { hostPort?: number }[] | undefined) =>
    (ports ?? []).map(({ hostPort = 0 }) => hostPort).filter((port) => port !== 0);
  const containers = containersWith(pod, ({ ports }) => portsOf(ports).length > 0);
  if (containers.length === 0) return undefined;
  const used = sorted(containersOf(pod.spec).flatMap(({ ports }) => portsOf(ports).map(String)));
  const verb = containers.length === 1 ? "uses" : "use";
  return {
    reason: "hostPort",
    detail: `${containerText(containers)} ${verb} ${plural(used.length, "hostPort")} ${used.join(", ")}`,
  };
};

/**
 * Rejects hosts in probes. The node sends a probe from inside its network, so a host would let a pod reach otherwise
 * unreachable services.
 */
export const hostProbes: PodCheck = (pod) => {
  const hosts = new Set<string>();
  const containers = containersWith(pod, ({ livenessProbe, readinessProbe, startupProbe, lifecycle }) => {
    const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop];
    const named = handlers.flatMap(hostsOf);
    for (const host of named) hosts.add(host);
    return named.length > 0;
  });
  if (containers.length === 0) return undefined;
  const verb = containers.length === 1 ? "uses" : "use";
  return {
    reason: "probe or lifecycle host",
    detail: `${containerText(sorted(containers))} ${verb} ${plural(hosts.size, "probe or lifecycle host")} ${quoted(sorted(hosts))}`,
  };
};

function hostsOf(handler: LifecycleHandler | Probe | undefined): string[] {
  return [handler?.httpGet?.host ?? "", handler?.tcpSocket?.host ?? ""].filter((host) => host !== "");
}

export const privileged: PodCheck = (pod) => {
  const containers = containersWith(pod, (container) => securityOf(container).privileged === true);
  if (containers.length === 0) return undefined;
  return { reason: "privileged", detail: `${containerText(containers)} must not set securityContext.privileged=true` };
};

export const procMount: PodCheck = (pod) => {
  const isBad = (value: string | undefined) => value !== undefined && value !== "Default";
  const containers = containersWith(pod, (container) => isBad(securityOf(container).procMount));
  if (containers.length === 0) return undefined;
  const values = containersOf(pod.spec).map((container) => securityOf(container).procMount ?? "Default");
  return {
    reason: "procMount",
    detail: `${containerText(containers)} must not set securityContext.procMount to ${quoted(sorted(values.filter(isBad)))}`,
  };
};

/** @param types allowed types besides no type */
export function seLinuxOptions(types: readonly string[]): PodCheck {
  const isBadType = (type: string | undefined) => type !== undefined && type !== "" && !types.includes(type);
  const isSet = (text: string | undefined) => text !== undefined && text !== "";
  return (pod) => {
    const ofPod = pod.spec.securityContext?.seLinuxOptions ?? {};
    const isBad = ({ type, user, role }: typeof ofPod) => isBadType(type) || isSet(user) || isSet(role);
    const containers = containersWith(pod, (container) => isBad(securityOf(container).seLinuxOptions ?? {}));
    if (!isBad(ofPod) && containers.length === 0) return undefined;
    const all = [ofPod, ...containersOf(pod.spec).map((container) => securityOf(container).seLinuxOptions ?? {})];
    const badTypes = sorted(all.map(({ type = "" }) => type).filter(isBadType));
    const problems = [
      ...(badTypes.length === 0 ? [] : [`${plural(badTypes.length, "type")} ${quoted(badTypes)}`]),
      ...(all.some(({ user }) => isSet(user)) ? ["user may not be set"] : []),
      ...(all.some(({ role }) => isSet(role)) ? ["role may not be set"] : []),
    ];
    const setters = settersText(isBad(ofPod), containers);
    return {
      reason: "seLinuxOptions",
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${problems.join("; ")}`,
    };
  };
}

/** Checks seccomp annotations, which preceded the field before 1.19. */
export const seccompAnnotations: PodCheck = (pod) => {
  const names = containersOf(pod.spec).map(({ name }) => seccompContainerAnnotationPrefix + name);
  const forbidden = [seccompPodAnnotation, ...names].flatMap((key) => {
    const value = pod.annotations[key];
    return value === undefined || isAllowedSeccomp(value) ? [] : [`${key}=${JSON.stringify(value)}`];
  });
  if (forbidden.length === 0) return undefined;
  const detail = `forbidden ${plural(forbidden.length, "annotation")} ${sorted(forbidden).join(", ")}`;
  return { reason: "seccompProfile", detail };
};

function isAllowedSeccomp(value: string): boolean {
  return value === "runtime/default" || value === "docker/default" || value.startsWith("localhost/");
}

export const seccompProfile: PodCheck = (pod) => {
  const isBad = (type: string | undefined) => type !== undefined && !allowedProfileTypes.has(type);
  const ofPod = pod.spec.securityContext?.seccompProfile?.type;
  const containers = containersWith(pod, (container) => isBad(securityOf(container).seccompProfile?.type));
  return seccompViolation(pod.spec, isBad(ofPod), containers);
};

/** Returns the violation of setting a forbidden type. */
function seccompViolation(spec: PodSpec, isPodBad: boolean, containers: readonly string[]): Violation | undefined {
  if (!isPodBad && containers.length === 0) return undefined;
  const types = [spec.securityContext, ...containersOf(spec).map(securityOf)].map((one) => one?.seccompProfile?.type);
  const bad = types.filter((type) => !allowedProfileTypes.has(type)) as string[];
  return {
    reason: "seccompProfile",
    detail: `${settersText(isPodBad, containers)} must not set securityContext.seccompProfile.type to ${quoted(sorted(bad))}`,
  };
}

/** @param allowed names that a pod may set because they only affect its own namespaces */
export function sysctls(allowed: readonly string[]): PodCheck {
  return ({ spec }) => {
    const names = (spec.securityContext?.sysctls ?? []).map(({ name }) => name);
    const forbidden = sorted(names.filter((name) => !allowed.includes(name)));
    return forbidden.length === 0 ? undefined : { reason: "forbidden sysctls", detail: forbidden.join(", ") };
  };
}

export const windowsHostProcess: PodCheck = (pod) => {
  const isPodBad = pod.spec.securityContext?.windowsOptions?.hostProcess === true;
  const containers = containersWith(pod, (container) => securityOf(container).windowsOptions?.hostProcess === true);
  if (!isPodBad && containers.length === 0) return undefined;
  const setters = settersText(isPodBad, containers);
  return { reason: "hostProcess", detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true` };
};
