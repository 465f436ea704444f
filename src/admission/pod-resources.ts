import { addQuantities, formatQuantity, parseQuantity, type Quantity } from "../api/quantity.ts";
import { isHugePages } from "../api/validation/resource-name.ts";
import { podTotalOf } from "../kinds/core/defaults/pod.ts";
import type { PodSpec, ResourceList } from "./pod.ts";

export type Amounts = ReadonlyMap<string, Quantity>;

/** What the scheduler sets aside for a pod. */
export function podRequests(spec: PodSpec): Amounts {
  const total = podTotalOf(spec, "requests");
  const own = podLevel(spec.resources?.requests);
  return sum(new Map([...total, ...own]), amountsOf(spec.overhead));
}

/** What a pod may use at most. Overhead counts only for resources that are limited at all. */
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

/** Names of either, each with the sum of both. */
export function sum(a: Amounts, b: Amounts): Amounts {
  const total = new Map(a);
  for (const [name, amount] of b) total.set(name, addQuantities(total.get(name) ?? { ...amount, nanos: 0n }, amount));
  return total;
}

/** A pod as a whole can set these; they count instead of what its containers add up to. */
function podLevel(list: ResourceList | undefined): Amounts {
  const supported = [...amountsOf(list)].filter(([name]) => name === "cpu" || name === "memory" || isHugePages(name));
  return new Map(supported);
}
