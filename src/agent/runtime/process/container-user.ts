import { readFileSync } from "node:fs";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import { podText } from "../../pods/pod-containers.ts";
import { RuntimeError } from "../runtime.ts";

/** Tells how the process of a container differs from the agent in its rights. */
export interface ContainerUser {
  /** Undefined for the agent's own user. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  readonly groups: readonly number[];
  readonly noNewPrivileges: boolean;
  /** Changes to the set of capabilities that the process can ever have, such as `-all` and `+net_bind_service`. */
  readonly capabilities: readonly string[];
}

/** Returns the user that the security contexts of a pod and container ask for. @throws RuntimeError for a root user */
export function containerUser(pod: Pod, container: Container, agentUid: number): ContainerUser {
  const ofPod = pod.spec?.securityContext ?? {};
  const own = container.securityContext ?? {};
  const runAsUser = own.runAsUser ?? ofPod.runAsUser;
  const runAsGroup = own.runAsGroup ?? ofPod.runAsGroup;
  const uid = runAsUser === undefined ? undefined : Number(runAsUser);
  if (own.runAsNonRoot ?? ofPod.runAsNonRoot ?? false) requireNonRoot(pod, container, uid, agentUid);
  const groups = [...(ofPod.supplementalGroups ?? []), ...(ofPod.fsGroup === undefined ? [] : [ofPod.fsGroup])];
  const { drop = [], add = [] } = own.capabilities ?? {};
  return {
    uid,
    gid: runAsGroup === undefined ? (uid === undefined ? undefined : primaryGroup(uid)) : Number(runAsGroup),
    groups: groups.map(Number),
    noNewPrivileges: own.allowPrivilegeEscalation === false,
    capabilities:
      drop.length === 0 ? [] : [...drop.map((name) => `-${bare(name)}`), ...add.map((name) => `+${bare(name)}`)],
  };
}

/** Returns the command line that takes on the rights, to be followed by a command; empty if nothing changes. */
export function privilegesCommand({ uid, gid, groups, noNewPrivileges, capabilities }: ContainerUser): string[] {
  const options = [
    ...(uid === undefined ? [] : [`--reuid=${uid}`]),
    ...(gid === undefined ? [] : [`--regid=${gid}`]),
    ...(groups.length > 0 ? [`--groups=${groups.join(",")}`] : gid === undefined ? [] : ["--clear-groups"]),
    ...(noNewPrivileges ? ["--no-new-privs"] : []),
    ...(capabilities.length > 0 ? ["--inh-caps=-all", `--bounding-set=${capabilities.join(",")}`] : []),
  ];
  return options.length === 0 ? [] : ["setpriv", ...options, "--"];
}

function requireNonRoot(pod: Pod, container: Container, uid: number | undefined, agentUid: number): void {
  if ((uid ?? agentUid) !== 0) return;
  const where = `(pod: "${podText(pod)}", container: ${container.name})`;
  const problem =
    uid === 0
      ? "container's runAsUser breaks non-root policy"
      : "container has runAsNonRoot and image will run as root";
  throw new RuntimeError("CreateContainerConfigError", `${problem} ${where}`);
}

/** Returns the group of a user of this machine; the number of the user if the machine does not know it. */
function primaryGroup(uid: number): number {
  const accounts = readFileSync("/etc/passwd", "utf8").split("\n");
  const account = accounts.map((line) => line.split(":")).find(([, , id]) => id === String(uid));
  return Number(account?.[3] ?? uid);
}

/** Returns `net_raw` for `CAP_NET_RAW`. */
function bare(capability: string): string {
  return capability.toLowerCase().replace(/^cap_/, "");
}
