import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { AppArmorProfile, Container, Pod, SeccompProfile, SecurityContext } from "../../../api/types/core-v1.ts";
import { podText } from "../../pods/pod-containers.ts";
import { RuntimeError } from "../runtime.ts";
import { namespaceModes, profileTypes, supplementalGroupsPolicies } from "./enums.ts";
import type { Draft } from "./messages.ts";

/** The user in the configuration of an image, one of which is set. */
export interface ImageUser {
  readonly uid: number | undefined;
  readonly name: string;
}

export interface SecurityOptions {
  /** Directory of the seccomp profiles of the node. */
  readonly seccompRoot: string;
  /** Whether containers without a seccomp profile get the runtime's. */
  readonly seccompDefault: boolean;
}

const maskedPaths = [
  ..."asound acpi interrupts kcore keys latency_stats timer_list timer_stats sched_debug scsi"
    .split(" ")
    .map((name) => `/proc/${name}`),
  "/sys/firmware",
  "/sys/devices/virtual/powercap",
  ...throttlePaths(),
];
const readonlyPaths = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"];
const userIdMax = 2 ** 31 - 1;

export function namespaceOptions({ spec }: Pod): Draft<"NamespaceOption"> {
  const { hostNetwork = false, hostPID = false, hostIPC = false, shareProcessNamespace = false } = spec ?? {};
  const sharedOrOwn = shareProcessNamespace ? namespaceModes.pod : namespaceModes.container;
  return {
    network: hostNetwork ? namespaceModes.node : namespaceModes.pod,
    ipc: hostIPC ? namespaceModes.node : namespaceModes.pod,
    pid: hostPID ? namespaceModes.node : sharedOrOwn,
  };
}

/** Returns what is the same for the sandbox and for every container of a pod. */
export function groupsOf({ spec }: Pod): {
  readonly supplementalGroups: readonly number[];
  readonly supplementalGroupsPolicy: number;
} {
  const { fsGroup, supplementalGroups = [], supplementalGroupsPolicy = "Merge" } = spec?.securityContext ?? {};
  return {
    supplementalGroups: [...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups].map(Number),
    supplementalGroupsPolicy: supplementalGroupsPolicies.get(supplementalGroupsPolicy) ?? 0,
  };
}

/** @throws RuntimeError for a container that must not run as the user of its image */
export function containerSecurity(
  pod: Pod,
  container: Container,
  user: ImageUser,
  { seccompRoot, seccompDefault }: SecurityOptions,
): Draft<"LinuxContainerSecurityContext"> {
  const effective = effectiveContext(pod, container);
  verifyNonRoot(pod, container, effective, user);
  const isUnmasked = effective.procMount === "Unmasked";
  const { capabilities, seLinuxOptions: selinuxOptions, privileged = false } = effective;
  return {
    ...(capabilities === undefined
      ? {}
      : { capabilities: { addCapabilities: capabilities.add ?? [], dropCapabilities: capabilities.drop ?? [] } }),
    privileged,
    namespaceOptions: namespaceOptions(pod),
    selinuxOptions,
    ...userOf(effective, user),
    ...(effective.runAsGroup === undefined ? {} : { runAsGroup: { value: Number(effective.runAsGroup) } }),
    readonlyRootfs: effective.readOnlyRootFilesystem ?? false,
    ...groupsOf(pod),
    noNewPrivs: effective.allowPrivilegeEscalation === false,
    maskedPaths: isUnmasked ? [] : maskedPaths,
    readonlyPaths: isUnmasked ? [] : readonlyPaths,
    seccomp: seccompOf(
      container.securityContext?.seccompProfile ?? pod.spec?.securityContext?.seccompProfile,
      seccompRoot,
      seccompDefault,
    ),
    ...appArmorOf(container.securityContext?.appArmorProfile ?? pod.spec?.securityContext?.appArmorProfile),
  };
}

/** Returns the context of a container: its own fields, and the pod's where it has none. */
function effectiveContext({ spec }: Pod, { securityContext = {} }: Container): SecurityContext {
  const { seLinuxOptions, runAsUser, runAsGroup, runAsNonRoot } = spec?.securityContext ?? {};
  return {
    ...(seLinuxOptions === undefined ? {} : { seLinuxOptions }),
    ...(runAsUser === undefined ? {} : { runAsUser }),
    ...(runAsGroup === undefined ? {} : { runAsGroup }),
    ...(runAsNonRoot === undefined ? {} : { runAsNonRoot }),
    ...securityContext,
  };
}

function userOf(
  { runAsUser }: SecurityContext,
  { uid, name }: ImageUser,
): Pick<Draft<"LinuxContainerSecurityContext">, "runAsUser" | "runAsUsername"> {
  if (runAsUser !== undefined) return { runAsUser: { value: Number(runAsUser) } };
  return uid === undefined ? { runAsUsername: name } : { runAsUser: { value: uid } };
}

function verifyNonRoot(pod: Pod, container: Container, effective: SecurityContext, { uid, name }: ImageUser): void {
  if (effective.runAsNonRoot !== true) return;
  const where = `(pod: "${podText(pod)}", container: ${container.name})`;
  if (effective.runAsUser !== undefined) {
    if (Number(effective.runAsUser) !== 0) return;
    throw configError(`container's runAsUser breaks non-root policy ${where}`);
  }
  if (uid === undefined) {
    throw configError(
      `container has runAsNonRoot and image has non-numeric user (${name}), cannot verify user is non-root ${where}`,
    );
  }
  if (uid === 0) throw configError(`container has runAsNonRoot and image will run as root ${where}`);
  if (uid < 0 || uid > userIdMax) {
    throw configError(
      `container has runAsNonRoot and image has an invalid user id (${uid}). (Must be 1-(${userIdMax})): ` +
        `must be between 0 and ${userIdMax}, inclusive ${where}`,
    );
  }
}

function seccompOf(profile: SeccompProfile | undefined, root: string, isDefaulted: boolean): Draft<"SecurityProfile"> {
  const type = profile?.type ?? (isDefaulted ? "RuntimeDefault" : "Unconfined");
  if (type === "RuntimeDefault") return { profileType: profileTypes.runtimeDefault };
  if (type !== "Localhost") return { profileType: profileTypes.unconfined };
  const name = profile?.localhostProfile ?? "";
  if (name === "") throw configError("localhostProfile must be set if seccompProfile type is Localhost.");
  return { profileType: profileTypes.localhost, localhostRef: join(root, name) };
}

/** Returns the profile in both forms: old runtimes know only the second. */
function appArmorOf(
  profile: AppArmorProfile | undefined,
): Pick<Draft<"LinuxContainerSecurityContext">, "apparmor" | "apparmorProfile"> {
  if (profile === undefined) return {};
  if (profile.type === "RuntimeDefault") {
    return { apparmor: { profileType: profileTypes.runtimeDefault }, apparmorProfile: "runtime/default" };
  }
  if (profile.type !== "Localhost") {
    return { apparmor: { profileType: profileTypes.unconfined }, apparmorProfile: "unconfined" };
  }
  const name = profile.localhostProfile;
  if (name === undefined) throw configError("missing localhost apparmor profile name");
  return {
    apparmor: { profileType: profileTypes.localhost, localhostRef: name },
    apparmorProfile: `localhost/${name}`,
  };
}

function configError(message: string): RuntimeError {
  return new RuntimeError("CreateContainerConfigError", message);
}

/** Returns the files of each processor that tell when it was hot: an attacker may learn from them. */
function throttlePaths(): string[] {
  const root = "/sys/devices/system/cpu";
  try {
    return readdirSync(root)
      .filter((name) => /^cpu\d+$/.test(name))
      .map((name) => join(root, name, "thermal_throttle"))
      .filter((path) => readdirSync(join(path, "..")).includes("thermal_throttle"));
  } catch {
    return [];
  }
}
