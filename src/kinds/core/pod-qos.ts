import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import type { Container, Pod } from "../../api/types/core-v1.ts";

/** A container, or a pod as a whole. */
type Consumer = Pick<Container, "resources">;

const qosResources = ["cpu", "memory"];

/**
 * Returns the class of service of a pod. Guaranteed: every container limits what it requests. BestEffort: no container
 * requests anything. Burstable: all other pods. Resources of the pod as a whole count instead of those of its
 * containers.
 */
export function qosClassOf({ spec = { containers: null } }: Pod): "Guaranteed" | "Burstable" | "BestEffort" {
  const { requests = {}, limits = {} } = spec.resources ?? {};
  const ofPod = Object.keys(requests).length + Object.keys(limits).length > 0;
  const containers: Consumer[] = ofPod ? [spec] : [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const asks = containers.some(({ resources = {} }) =>
    qosResources.some((name) => isPositive(resources.requests?.[name]) || isPositive(resources.limits?.[name])),
  );
  if (!asks) return "BestEffort";
  return containers.every(isGuaranteed) ? "Guaranteed" : "Burstable";
}

function isGuaranteed({ resources = {} }: Consumer): boolean {
  return qosResources.every((name) => {
    const limit = resources.limits?.[name];
    if (!isPositive(limit)) return false;
    return compareTexts(resources.requests?.[name] ?? limit, limit) === 0;
  });
}

function isPositive(quantity: string | undefined): quantity is string {
  return quantity !== undefined && compareTexts(quantity, "0") > 0;
}

function compareTexts(a: string, b: string): number {
  return compareQuantities(parseQuantity(a), parseQuantity(b));
}
