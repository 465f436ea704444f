import { podRequests } from "../../admission/pod-resources.ts";
import { nanosPerUnit, parseQuantity } from "../../api/quantity.ts";
import type { Node, Pod, PodSpec } from "../../api/types/core-v1.ts";
import { toleratedSeconds } from "../../controllers/nodes/tolerations.ts";
import { qosClassOf } from "../../kinds/core/pod-qos.ts";
import type { Pressure } from "../node/eviction-thresholds.ts";
import { matchesNodeAffinity } from "./node-affinity.ts";
import { isSidecar } from "./pod-containers.ts";
import { isCriticalPod } from "./pod-source.ts";

/** Why a node does not run a pod that was bound to it. */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

/** Resources of which every node has an amount. Others count only if the node has them. */
const countedAlways: readonly string[] = ["cpu", "memory", "ephemeral-storage"];

/**
 * Reports why a node cannot run a pod; undefined if it can.
 * @param others the pods that hold resources of the node
 */
export function admitPod(pod: Pod, node: Node, others: readonly Pod[]): Rejection | undefined {
  return missingFeature(pod) ?? wrongSystem(pod, node) ?? tooLarge(pod, node, others) ?? misplaced(pod, node, others);
}

/** Reports why a node under pressure does not take another pod; undefined if it does. */
export function pressureRejection(pod: Pod, pressures: ReadonlySet<Pressure>): Rejection | undefined {
  if (pressures.size === 0 || isCriticalPod(pod)) return undefined;
  // Pods with requests do not make a shortage of memory worse.
  if (pressures.size === 1 && pressures.has("MemoryPressure")) {
    if (qosClassOf(pod) !== "BestEffort") return undefined;
    const taint = { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" } as const;
    if (toleratedSeconds([taint], pod.spec?.tolerations ?? []) !== undefined) return undefined;
  }
  return { reason: "Evicted", message: `The node had condition: [${[...pressures].join(" ")}]. ` };
}

/** The agent declares no features, and cannot restart all containers of a pod because one has ended. */
function missingFeature({ spec }: Pod): Rejection | undefined {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  const restartsAll = containers.some(({ restartPolicyRules = [] }) =>
    restartPolicyRules.some(({ action }) => action === "RestartAllContainers"),
  );
  if (!restartsAll) return undefined;
  const message = "Pod requires node features that are not available: RestartAllContainersOnContainerExits";
  return { reason: "PodFeatureUnsupported", message };
}

function wrongSystem({ metadata, spec }: Pod, { metadata: { labels = {} }, status }: Node): Rejection | undefined {
  const system = status?.nodeInfo?.operatingSystem || labels["kubernetes.io/os"] || "linux";
  const wanted = metadata.labels?.["kubernetes.io/os"];
  if (wanted !== undefined && wanted !== system) {
    const message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label";
    return { reason: "PodOSSelectorNodeLabelDoesNotMatch", message };
  }
  if (spec?.os !== undefined && spec.os.name !== system) {
    return { reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS" };
  }
  const policy = spec?.securityContext?.supplementalGroupsPolicy;
  if (policy !== "Strict" || status?.features?.supplementalGroupsPolicy === true) return undefined;
  const message = `SupplementalGroupsPolicy=${policy} is not supported in this node`;
  return { reason: "SupplementalGroupsPolicyNotSupported", message };
}

const noSpec: PodSpec = { containers: null };

function tooLarge({ spec = noSpec }: Pod, { status }: Node, others: readonly Pod[]): Rejection | undefined {
  const allocatable = status?.allocatable ?? {};
  const podsMax = allocatable.pods === undefined ? undefined : parseQuantity(allocatable.pods).nanos / nanosPerUnit;
  if (podsMax !== undefined && BigInt(others.length + 1) > podsMax) {
    return insufficient("pods", 1n, BigInt(others.length), podsMax);
  }
  const requests = podRequests(spec);
  const ofOthers = others.map((other) => podRequests(other.spec ?? noSpec));
  const names = [...new Set([...countedAlways, ...requests.keys()])];
  for (const name of names) {
    const requested = requests.get(name);
    const limit = allocatable[name];
    if (requested === undefined || requested.nanos === 0n) continue;
    if (limit === undefined && !countedAlways.includes(name)) continue;
    const used = ofOthers.reduce((sum, amounts) => sum + (amounts.get(name)?.nanos ?? 0n), 0n);
    const capacity = parseQuantity(limit ?? "0").nanos;
    if (requested.nanos + used > capacity) {
      return insufficient(name, amountOf(name, requested.nanos), amountOf(name, used), amountOf(name, capacity));
    }
  }
  return undefined;
}

function insufficient(name: string, requested: bigint, used: bigint, capacity: bigint): Rejection {
  const amounts = `requested: ${requested}, used: ${used}, capacity: ${capacity}`;
  return { reason: `OutOf${name}`, message: `Node didn't have enough resource: ${name}, ${amounts}` };
}

function misplaced(pod: Pod, node: Node, others: readonly Pod[]): Rejection | undefined {
  if (!matchesNodeAffinity(pod, node)) {
    return failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
  }
  if (pod.spec?.nodeName !== undefined && pod.spec.nodeName !== node.metadata.name) {
    return failed("NodeName", "node(s) didn't match the requested node name");
  }
  const taken = others.flatMap(hostPorts);
  if (hostPorts(pod).some((port) => taken.some((other) => collide(port, other)))) {
    return failed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
  }
  const { taints = [] } = node.spec ?? {};
  const { tolerations = [] } = pod.spec ?? {};
  const evicting = taints.filter(({ effect }) => effect === "NoExecute");
  const isUntolerated = toleratedSeconds(evicting, tolerations) === undefined;
  return isUntolerated ? failed("TaintToleration", "node(s) had taints that the pod didn't tolerate") : undefined;
}

function failed(reason: string, problem: string): Rejection {
  return { reason, message: `Predicate ${reason} failed: ${problem}` };
}

/** Returns an amount as upstream's messages have it: thousandths of a CPU, units of everything else. */
function amountOf(name: string, nanos: bigint): bigint {
  const step = name === "cpu" ? nanosPerUnit / 1_000n : nanosPerUnit;
  return (nanos + step - 1n) / step;
}

interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

function hostPorts({ spec }: Pod): readonly HostPort[] {
  const containers = [...(spec?.initContainers ?? []).filter(isSidecar), ...(spec?.containers ?? [])];
  return containers.flatMap(({ ports = [] }) =>
    ports
      .filter(({ hostPort = 0 }) => hostPort > 0)
      .map(({ hostIP, protocol = "TCP", hostPort = 0 }) => ({ ip: hostIP || "0.0.0.0", protocol, port: hostPort })),
  );
}

function collide(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || a.protocol !== b.protocol) return false;
  return a.ip === b.ip || a.ip === "0.0.0.0" || b.ip === "0.0.0.0";
}
