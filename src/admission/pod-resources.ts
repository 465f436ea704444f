import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from "../api/quantity.ts";
import type { Container, PodSpec, ResourceList } from "./pod.ts";

export type Amounts = ReadonlyMap<string, Quantity>;

/** What the scheduler sets aside for a pod. */
export function podRequests(spec: PodSpec): Amounts {
  const total = effectiveAmounts(spec, ({ resources }) => resources?.requests);
  const own = podLevel(spec.resources?.requests);
  return sum(new Map([...total, ...own]), amountsOf(spec.overhead));
}

/** What a pod may use at most. Overhead counts only for resources that are limited at all. */
export function podLimits(spec: PodSpec): Amounts {
  const total = effectiveAmounts(spec, ({ resources }) => resources?.limits);
  const limits = new Map([...total, ...podLevel(spec.resources?.limits)]);
  const overhead = [...amountsOf(spec.overhead)].filter(([name]) => limits.has(name));
  return sum(limits, new Map(overhead));
}

/** Resources of devices: they have a domain, and it is not the system's. */
export function isExtendedResource(name: string): boolean {
  const [domain = "", rest] = name.split("/");
  return rest !== undefined && domain !== "kubernetes.io" && !domain.endsWith(".kubernetes.io");
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

/** Names of either, each with the greater of both. */
export function max(a: Amounts, b: Amounts): Amounts {
  const greatest = new Map(a);
  for (const [name, amount] of b) {
    const other = greatest.get(name);
    if (other === undefined || compareQuantities(amount, other) > 0) greatest.set(name, amount);
  }
  return greatest;
}

/**
 * Containers run side by side; init containers before them, one after another, each beside the sidecars that were started
 * before it.
 */
function effectiveAmounts(spec: PodSpec, listOf: (container: Container) => ResourceList | undefined): Amounts {
  let running: Amounts = new Map();
  for (const container of spec.containers ?? []) running = sum(running, amountsOf(listOf(container)));
  let sidecars: Amounts = new Map();
  let starting: Amounts = new Map();
  for (const container of spec.initContainers ?? []) {
    const amounts = amountsOf(listOf(container));
    if (container.restartPolicy === "Always") {
      running = sum(running, amounts);
      sidecars = sum(sidecars, amounts);
      starting = max(starting, sidecars);
    } else starting = max(starting, sum(sidecars, amounts));
  }
  return max(running, starting);
}

/** A pod as a whole can set these; they count instead of what its containers add up to. */
function podLevel(list: ResourceList | undefined): Amounts {
  const supported = [...amountsOf(list)].filter(
    ([name]) => name === "cpu" || name === "memory" || name.startsWith("hugepages-"),
  );
  return new Map(supported);
}
