import { formatQuantity, parseQuantity } from "../../../api/quantity.ts";
import type { Container, Pod, PodSpec, ResourceRequirements } from "../../../api/types/core-v1.ts";
import { podTotalOf } from "../../../kinds/core/pod-defaults.ts";
import { qosClassOf } from "../../../kinds/core/pod-qos.ts";
import type { Draft } from "./messages.ts";

/** Period of the kernel's CPU quota, in microseconds. */
const quotaPeriod = 100_000;
/** The least quota that the kernel keeps, in microseconds per period. */
const quotaMin = 1_000;
const sharesPerCpu = 1_024;
/** The bounds of the kernel. */
const sharesMin = 2;
const sharesMax = 262_144;

/** Adjustments of the kernel's choice of a process to kill when memory runs out. */
const guaranteedScore = -997;
const bestEffortScore = 1_000;

/** Returns the limits of a container, or of a whole pod, for the kernel. */
export function linuxResources({ requests = {}, limits = {} }: ResourceRequirements): Draft<"LinuxContainerResources"> {
  const milliLimit = milliOf(limits["cpu"]);
  const milliRequest = requests["cpu"] === undefined ? milliLimit : milliOf(requests["cpu"]);
  const memory = bytesOf(limits["memory"]);
  return {
    cpuShares: clamp(Math.floor((milliRequest * sharesPerCpu) / 1_000), sharesMin, sharesMax),
    cpuPeriod: quotaPeriod,
    cpuQuota: milliLimit === 0 ? 0 : Math.max(quotaMin, Math.floor((milliLimit * quotaPeriod) / 1_000)),
    ...(memory === 0 ? {} : { memoryLimitInBytes: memory }),
  };
}

/** Returns the limits of a pod without its overhead. */
export function podResources({ spec = { containers: null } }: Pod): Draft<"LinuxContainerResources"> {
  const { requests = {}, limits = {} } = spec.resources ?? {};
  return linuxResources({
    requests: { ...totalOf(spec, "requests"), ...requests },
    limits: { ...totalOf(spec, "limits"), ...limits },
  });
}

/**
 * Returns the limits of a container of a pod. Limits of the pod hold for a container that has none.
 * `machineMemoryBytes` is the memory of the node.
 */
export function containerResources(
  pod: Pod,
  container: Container,
  machineMemoryBytes: number,
): Draft<"LinuxContainerResources"> {
  const { requests = {}, limits = {} } = container.resources ?? {};
  const ofPod = pod.spec?.resources?.limits ?? {};
  const inherited = {
    ...ofPod,
    ...Object.fromEntries(Object.entries(limits).filter(([, value]) => bytesOf(value) > 0)),
  };
  return {
    ...linuxResources({ requests, limits: inherited }),
    oomScoreAdj: oomScoreOf(pod, container, machineMemoryBytes),
  };
}

/**
 * Returns the adjustment of a container's score: the more memory it has asked for, the later the kernel kills it.
 * A sidecar is not killed before the containers that it serves.
 */
export function oomScoreOf(pod: Pod, container: Container, machineMemoryBytes: number): number {
  if (pod.spec?.priorityClassName === "system-node-critical") return guaranteedScore;
  const qos = qosClassOf(pod);
  if (qos === "Guaranteed") return guaranteedScore;
  if (qos === "BestEffort") return bestEffortScore;
  const { containers, initContainers = [], resources } = pod.spec ?? { containers: [] };
  const regular = containers ?? [];
  // Memory that only the pod has asked for counts in equal parts for its containers.
  const all = [...regular, ...initContainers.filter(({ restartPolicy }) => restartPolicy === "Always")];
  const ofPod = bytesOf(resources?.requests?.["memory"]);
  const ofContainers = all.reduce((sum, { resources: own }) => sum + memoryRequestOf(own), 0);
  const share = ofPod > ofContainers && all.length > 0 ? Math.floor((ofPod - ofContainers) / all.length) : 0;
  const scoreOf = (request: number) =>
    machineMemoryBytes === 0 ? bestEffortScore : 1_000 - Math.floor((1_000 * (request + share)) / machineMemoryBytes);
  let score = scoreOf(memoryRequestOf(container.resources));
  const isSidecar = container.restartPolicy === "Always" && initContainers.some(({ name }) => name === container.name);
  if (isSidecar && regular.length > 0) {
    score = Math.min(score, scoreOf(Math.min(...regular.map(({ resources: own }) => memoryRequestOf(own)))));
  }
  return clamp(score, 1_000 + guaranteedScore, bestEffortScore - 1);
}

function totalOf(spec: PodSpec, field: "limits" | "requests"): Record<string, string> {
  return Object.fromEntries([...podTotalOf(spec, field)].map(([name, amount]) => [name, formatQuantity(amount)]));
}

function memoryRequestOf(resources: ResourceRequirements | undefined): number {
  return bytesOf(resources?.requests?.["memory"]);
}

function milliOf(text: string | undefined): number {
  return text === undefined ? 0 : Number((parseQuantity(text).nanos + 999_999n) / 1_000_000n);
}

function bytesOf(text: string | undefined): number {
  return text === undefined ? 0 : Number((parseQuantity(text).nanos + 999_999_999n) / 1_000_000_000n);
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, value));
}
