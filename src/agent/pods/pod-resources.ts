import { addQuantities, compareQuantities, formatQuantity, parseQuantity, type Quantity } from "../../api/quantity.ts";
import type { Container, Pod, ResourceRequirements } from "../../api/types/core-v1.ts";
import { isSidecar } from "./pod-containers.ts";

export type Amounts = ReadonlyMap<string, Quantity>;

/** Returns the requests of a pod: its own, or the larger of those of its init phase and of its running containers. */
export function podRequests(pod: Pod): Amounts {
  const amounts = amountsOf(pod, "requests");
  for (const [name, text] of Object.entries(pod.spec?.overhead ?? {})) add(amounts, name, parseQuantity(text));
  return amounts;
}

/** Returns the resources of a pod as a whole, as its status shows them. */
export function podResources(pod: Pod): ResourceRequirements {
  const limits = amountsOf(pod, "limits");
  for (const [name, text] of Object.entries(pod.spec?.overhead ?? {})) {
    if (limits.has(name)) add(limits, name, parseQuantity(text));
  }
  const requests = podRequests(pod);
  return {
    ...(limits.size === 0 ? {} : { limits: textsOf(limits) }),
    ...(requests.size === 0 ? {} : { requests: textsOf(requests) }),
  };
}

function amountsOf({ spec }: Pod, kind: "requests" | "limits"): Map<string, Quantity> {
  const running = new Map<string, Quantity>();
  const peak = new Map<string, Quantity>();
  for (const container of spec?.initContainers ?? []) {
    for (const [name, amount] of ofContainer(container, kind)) {
      const before = running.get(name);
      const together = before === undefined ? amount : addQuantities(before, amount);
      if (isSidecar(container)) running.set(name, together);
      raise(peak, name, together);
    }
  }
  for (const container of spec?.containers ?? []) {
    for (const [name, amount] of ofContainer(container, kind)) add(running, name, amount);
  }
  for (const [name, amount] of peak) raise(running, name, amount);
  for (const [name, amount] of ofContainer({ resources: spec?.resources ?? {} }, kind)) running.set(name, amount);
  return running;
}

function ofContainer({ resources }: Pick<Container, "resources">, kind: "requests" | "limits") {
  return Object.entries(resources?.[kind] ?? {}).map(([name, text]) => [name, parseQuantity(text)] as const);
}

function add(amounts: Map<string, Quantity>, name: string, amount: Quantity): void {
  const before = amounts.get(name);
  amounts.set(name, before === undefined ? amount : addQuantities(before, amount));
}

function raise(amounts: Map<string, Quantity>, name: string, amount: Quantity): void {
  const before = amounts.get(name);
  if (before === undefined || compareQuantities(before, amount) < 0) amounts.set(name, amount);
}

function textsOf(amounts: Amounts): Record<string, string> {
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}
