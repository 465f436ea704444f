import { addQuantities, formatQuantity, parseQuantity, type Quantity } from "../api/quantity.ts";
import type { PodSpec, ResourceList } from "../api/types/core-v1.ts";
import { isHugePages } from "../api/validation/resource-name.ts";
import { podTotalOf } from "../kinds/core/pod-defaults.ts";

export type Amounts = ReadonlyMap<string, Quantity>;

/** Returns the resources that the scheduler reserves for a pod. */
export function podRequests(spec: PodSpec): Amounts {
  const total = podTotalOf(spec, "requests");
  const own = podLevel(spec.resources?.requests);
  return sum(new Map([...total, ...own]), amountsOf(spec.overhead));
}

/** Returns the limits of a pod. Overhead only counts for resources with a limit. */
export function podLimits(spec: PodSpec): Amounts {
  const total = podTotalOf(spec, "limits");
  const limits = new Map([...total, ...podLevel(spec.resources?.limits)]);
  const overhead = [...amountsOf(spec.overhead)].filter(([name]) => limits.has(name));
  return sum(limits, new Map(overhead));
}

export function amountsOf(list: ResourceList | undefined): Amounts {
  return new Map(Object.entries(list ?? {}).map(([name, text]) => [name, parseQuantity(text)]));
}

export function resourceListOf(amounts: Amounts): ResourceList {
  const list: ResourceList = Object.create(null) as ResourceList;
  for (const name of [...amounts.keys()].sort()) list[name] = formatQuantity(amounts.get(name) as Quantity);
  return list;
}

/** Adds two sets of amounts by name. */
export function sum(a: Amounts, b: Amounts): Amounts {
  const total = new Map(a);
  for (const [name, amount] of b) total.set(name, addQuantities(total.get(name) ?? { ...amount, nanos: 0n }, amount));
  return total;
}

/** Returns the resources set on the pod as a whole. They replace the sum of its containers. */
function podLevel(list: ResourceList | undefined): Amounts {
  const supported = [...amountsOf(list)].filter(([name]) => name === "cpu" || name === "memory" || isHugePages(name));
  return new Map(supported);
}
