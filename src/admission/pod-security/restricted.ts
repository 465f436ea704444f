import { containersOf } from "../pod.ts";
import { seccompProfile as seccompBaseline } from "./baseline.ts";
import {
  containersWith,
  containerText,
  type PodCheck,
  plural,
  quoted,
  securityOf,
  settersText,
  sorted,
} from "./violation.ts";

const allowedVolumeTypes = new Set([
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
]);

export const allowPrivilegeEscalation: PodCheck = (pod) => {
  const containers = containersWith(pod, (container) => securityOf(container).allowPrivilegeEscalation !== false);
  if (containers.length === 0) return undefined;
  return {
    reason: "allowPrivilegeEscalation != false",
    detail: `${containerText(containers)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

export const capabilities: PodCheck = (pod) => {
  const keeping = containersWith(pod, (container) => !(securityOf(container).capabilities?.drop ?? []).includes("ALL"));
  const extra = (names: readonly string[] | undefined) => (names ?? []).filter((name) => name !== "NET_BIND_SERVICE");
  const adding = containersWith(pod, (container) => extra(securityOf(container).capabilities?.add).length > 0);
  if (keeping.length === 0 && adding.length === 0) return undefined;
  const added = containersOf(pod.spec).flatMap((container) => extra(securityOf(container).capabilities?.add));
  const details = [
    ...(keeping.length === 0 ? [] : [`${containerText(keeping)} must set securityContext.capabilities.drop=["ALL"]`]),
    ...(adding.length === 0
      ? []
      : [`${containerText(adding)} must not include ${quoted(sorted(added))} in securityContext.capabilities.add`]),
  ];
  return { reason: "unrestricted capabilities", detail: details.join("; ") };
};

export const volumes: PodCheck = ({ spec }) => {
  const restricted = (spec.volumes ?? []).flatMap((volume) => {
    const types = Object.keys(volume).filter((key) => key !== "name");
    return types.some((type) => allowedVolumeTypes.has(type))
      ? []
      : [{ name: volume.name, type: types[0] ?? "unknown" }];
  });
  if (restricted.length === 0) return undefined;
  const types = sorted(restricted.map(({ type }) => type));
  const verb = restricted.length === 1 ? "uses" : "use";
  return {
    reason: "restricted volume types",
    detail: `${plural(restricted.length, "volume")} ${quoted(restricted.map(({ name }) => name))} ${verb} ${plural(types.length, "restricted volume type")} ${quoted(types)}`,
  };
};

export const runAsNonRoot: PodCheck = (pod) => {
  const ofPod = pod.spec.securityContext?.runAsNonRoot;
  const explicit = containersWith(pod, (container) => securityOf(container).runAsNonRoot === false);
  const reason = "runAsNonRoot != true";
  if (ofPod === false || explicit.length > 0) {
    const setters = settersText(ofPod === false, explicit);
    return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  }
  const implicit = containersWith(pod, (container) => securityOf(container).runAsNonRoot === undefined);
  if (ofPod === true || implicit.length === 0) return undefined;
  return { reason, detail: `pod or ${containerText(implicit)} must set securityContext.runAsNonRoot=true` };
};

export const runAsUser: PodCheck = (pod) => {
  const isPodRoot = pod.spec.securityContext?.runAsUser === 0;
  const containers = containersWith(pod, (container) => securityOf(container).runAsUser === 0);
  if (!isPodRoot && containers.length === 0) return undefined;
  return { reason: "runAsUser=0", detail: `${settersText(isPodRoot, containers)} must not set runAsUser=0` };
};

export const seccompProfile: PodCheck = (pod) => {
  const explicit = seccompBaseline(pod);
  if (explicit !== undefined) return explicit;
  if (pod.spec.securityContext?.seccompProfile !== undefined) return undefined;
  const containers = containersWith(pod, (container) => securityOf(container).seccompProfile === undefined);
  if (containers.length === 0) return undefined;
  return {
    reason: "seccompProfile",
    detail: `pod or ${containerText(containers)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
};

/** Skips a check that does not apply to Windows for pods that declare it. */
export function unlessWindows(check: PodCheck): PodCheck {
  return (pod) => (pod.spec.os?.name === "windows" ? undefined : check(pod));
}

/** Skips a check for pods with a user namespace, where root has no rights outside. */
export function unlessOwnUsers(check: PodCheck): PodCheck {
  return (pod) => (pod.spec.hostUsers === false ? undefined : check(pod));
}
