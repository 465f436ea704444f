import { formatQuantity, nanosPerUnit } from "../../api/quantity.ts";
import type { Pod } from "../../api/types/core-v1.ts";
import { amountOf } from "../node/eviction-thresholds.ts";
import type { Shortage } from "./node-pressure.ts";
import { bytesOf, type ContainerUsage, type PodUsage, resourceOf, type StarvedResource, usedBy } from "./pod-usage.ts";

/** Why a pod is evicted: the message of its status and Event, and annotations of the Event. */
export interface EvictionText {
  readonly message: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Returns upstream's words about the eviction of a pod because of a shortage. */
export function evictionText(pod: Pod, usage: PodUsage | undefined, shortages: readonly Shortage[]): EvictionText {
  const [first] = shortages;
  const resource = first === undefined ? "memory" : resourceOf[first.limit.signal];
  const parts = [`The node was low on resource: ${resource}. `];
  if (first !== undefined) {
    const wanted = amountText(amountOf(first.limit.threshold, first.capacity), resource);
    parts.push(`Threshold quantity: ${wanted}, available: ${amountText(first.available, resource)}. `);
  }
  if (usage === undefined) return { message: parts.join(""), annotations: {} };
  const annotations: Record<string, string> = {};
  const ofPod = pod.spec?.resources?.requests?.[resource];
  if (resource === "memory" && ofPod !== undefined) {
    const used = amountText(usedBy(usage, resource), resource);
    const name = pod.metadata.name ?? "";
    parts.push(`Pod ${name} was using ${used}, request is ${ofPod}, has larger consumption of ${resource}. `);
    Object.assign(annotations, { offending_pod: name, offending_pod_usage: used });
  }
  const excesses = usage.containers.flatMap((container) => excessOf(pod, container, resource) ?? []);
  parts.push(...excesses.map(({ text }) => text));
  annotations["offending_containers"] = excesses.map(({ name }) => name).join(",");
  annotations["offending_containers_usage"] = excesses.map(({ used }) => used).join(",");
  annotations["starved_resource"] = resource;
  return { message: parts.join(""), annotations };
}

function excessOf({ spec }: Pod, container: ContainerUsage, resource: StarvedResource) {
  const { name, memoryBytes, disk } = container;
  const known = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((one) => one.name === name);
  const amount = resource === "memory" ? memoryBytes : resource === "ephemeral-storage" ? disk?.bytes : undefined;
  if (known === undefined || amount === undefined) return undefined;
  const request = known.resources?.requests?.[resource] ?? "0";
  if (amount <= bytesOf(request)) return undefined;
  const used = amountText(amount, resource);
  const text = `Container ${name} was using ${used}, request is ${request}, has larger consumption of ${resource}. `;
  return { name, used, text };
}

/** Formats an amount as upstream's quantities print it: bytes in powers of two, and numbers in powers of ten. */
function amountText(amount: number, resource: StarvedResource): string {
  const format = resource === "memory" || resource === "ephemeral-storage" ? "binarySI" : "decimalSI";
  return formatQuantity({ nanos: BigInt(Math.trunc(amount)) * nanosPerUnit, format });
}
