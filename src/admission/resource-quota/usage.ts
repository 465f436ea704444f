import type { GroupResource } from "../../api/gvk.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import type { Quantity } from "../../api/quantity.ts";
import type { PersistentVolumeClaim, Pod, Service } from "../../api/types/core-v1.ts";
import type { DeviceSubRequest, ExactDeviceRequest, ResourceClaim } from "../../api/types/resource-v1.ts";
import { isExtendedResource, isHugePages } from "../../api/validation/resource-name.ts";
import { podSpecOf } from "../pod.ts";
import { type Amounts, amountsOf, podLimits, podRequests } from "../pod-resources.ts";

/** Kinds whose count has a second, older name. */
const countedByName = new Set([
  "configmaps",
  "persistentvolumeclaims",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "services",
]);
const classSuffix = ".storageclass.storage.k8s.io/";
export const deviceClassSuffix = ".deviceclass.resource.k8s.io/devices";
/** Maximum number of devices of a claim. A request for all devices counts as this many. */
const claimDevicesMax = 32;
const claimClassAnnotation = "volume.beta.kubernetes.io/storage-class";

/** Returns the usage of one object, by the names in quotas. */
export function usageOf({ group, resource }: GroupResource, object: KubeObject, nowMs: number): Amounts {
  const counts = new Map([[group === "" ? `count/${resource}` : `count/${resource}.${group}`, count(1)]]);
  if (group === "resource.k8s.io" && resource === "resourceclaims")
    return new Map([...counts, ...deviceUsage(object as ResourceClaim)]);
  if (group !== "") return counts;
  if (countedByName.has(resource)) counts.set(resource, count(1));
  if (resource === "pods") return new Map([...counts, ...podUsage(object as Pod, nowMs)]);
  if (resource === "services") return new Map([...counts, ...serviceUsage(object)]);
  return resource === "persistentvolumeclaims" ? new Map([...counts, ...claimUsage(object)]) : counts;
}

export function count(units: number): Quantity {
  return { nanos: BigInt(units) * 1_000_000_000n, format: "decimalSI" };
}

/** Returns the usage of a pod. One that has ended only counts as an object. */
function podUsage(pod: Pod, nowMs: number): Amounts {
  if (hasEnded(pod, nowMs)) return new Map();
  const spec = podSpecOf(pod);
  const usage = new Map([["pods", count(1)]]);
  for (const [name, amount] of podRequests(spec)) {
    if (isExtendedResource(name)) usage.set(`requests.${name}`, amount);
    else if (isCompute(name)) usage.set(name, amount).set(`requests.${name}`, amount);
  }
  for (const [name, amount] of podLimits(spec)) if (isCompute(name)) usage.set(`limits.${name}`, amount);
  return usage;
}

function hasEnded({ metadata, status }: Pod, nowMs: number): boolean {
  if (status?.phase === "Failed" || status?.phase === "Succeeded") return true;
  const { deletionTimestamp, deletionGracePeriodSeconds = 0 } = metadata;
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + deletionGracePeriodSeconds * 1000 < nowMs;
}

function isCompute(name: string): boolean {
  return name === "cpu" || name === "memory" || name === "ephemeral-storage" || isHugePages(name);
}

function serviceUsage({ spec = {} }: Service): Amounts {
  const { type, ports = [], allocateLoadBalancerNodePorts } = spec;
  if (type === "NodePort") return new Map([["services.nodeports", count(ports.length)]]);
  if (type !== "LoadBalancer") return new Map();
  const named = ports.filter(({ nodePort = 0 }) => nodePort !== 0).length;
  const nodePorts = allocateLoadBalancerNodePorts === false ? named : ports.length;
  return new Map([
    ["services.loadbalancers", count(1)],
    ["services.nodeports", count(nodePorts)],
  ]);
}

function claimUsage({ metadata, spec = {} }: PersistentVolumeClaim): Amounts {
  const { storageClassName = "", resources } = spec;
  const className = metadata.annotations?.[claimClassAnnotation] ?? storageClassName;
  const usage = new Map<string, Quantity>();
  const storage = amountsOf(resources?.requests).get("storage");
  if (storage !== undefined) usage.set("requests.storage", storage);
  if (className === "") return usage;
  usage.set(`${className}${classSuffix}persistentvolumeclaims`, count(1));
  if (storage !== undefined) usage.set(`${className}${classSuffix}requests.storage`, storage);
  return usage;
}

/** Returns the devices by class. Only one alternative is allocated, so for each class the largest one counts. */
function deviceUsage({ spec }: ResourceClaim): Amounts {
  const numbers = new Map<string, number>();
  for (const { exactly, firstAvailable = [] } of spec.devices?.requests ?? []) {
    const most = new Map<string, number>();
    for (const request of exactly === undefined ? firstAvailable : [exactly]) {
      const { deviceClassName } = request;
      most.set(deviceClassName, Math.max(most.get(deviceClassName) ?? 0, deviceNumber(request)));
    }
    for (const [name, number] of most) numbers.set(name, (numbers.get(name) ?? 0) + number);
  }
  return new Map([...numbers].map(([name, number]) => [`${name}${deviceClassSuffix}`, count(number)]));
}

function deviceNumber({ allocationMode, count: number = 1 }: ExactDeviceRequest | DeviceSubRequest): number {
  return allocationMode === "All" ? claimDevicesMax : Number(number);
}
