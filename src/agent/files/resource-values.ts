import { nanosPerUnit, parseQuantity } from "../../api/quantity.ts";
import type { Container, Pod, ResourceFieldSelector, ResourceList } from "../../api/types/core-v1.ts";

const nanosPerMilli = 1_000_000n;
/** Resources for which the node's own amount stands in for a limit that is not set. */
const defaultedLimits: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);
/** Resources that a pod as a whole can limit. */
const podLevelLimits: ReadonlySet<string> = new Set(["cpu", "memory"]);

/**
 * Returns the amount of a resource of a container in units of the divisor, rounded up. `own` is the container for a
 * selector that names none.
 * @throws Error for a container or resource that does not exist
 */
export function resourceValue(
  selector: ResourceFieldSelector,
  pod: Pod,
  own: Container | undefined,
  allocatable: ResourceList,
): string {
  const { containerName = "", resource, divisor = "0" } = selector;
  const container = containerName === "" ? own : findContainer(pod, containerName);
  if (container === undefined) throw new Error(`container ${containerName} not found`);
  const [kind, name = ""] = splitOnce(resource);
  const isKnown = defaultedLimits.has(name) || name.startsWith("hugepages-");
  if ((kind !== "limits" && kind !== "requests") || !isKnown) {
    throw new Error(`unsupported container resource : ${resource}`);
  }
  const amount = kind === "limits" ? limitOf(name, pod, container, allocatable) : container.resources?.requests?.[name];
  const step = name === "cpu" ? nanosPerMilli : nanosPerUnit;
  const wholeDivisor = parseQuantity(divisor).nanos === 0n ? "1" : divisor;
  return String(roundUp(steps(amount ?? "0", step), steps(wholeDivisor, step)));
}

function limitOf(name: string, pod: Pod, { resources }: Container, allocatable: ResourceList): string | undefined {
  const own = resources?.limits?.[name];
  if (!defaultedLimits.has(name) || isAmount(own)) return own;
  const ofPod = podLevelLimits.has(name) ? pod.spec?.resources?.limits?.[name] : undefined;
  return isAmount(ofPod) ? ofPod : allocatable[name];
}

function isAmount(quantity: string | undefined): boolean {
  return quantity !== undefined && parseQuantity(quantity).nanos !== 0n;
}

function findContainer({ spec }: Pod, name: string): Container | undefined {
  return [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].find((container) => container.name === name);
}

function splitOnce(resource: string): [kind: string, name: string | undefined] {
  const dot = resource.indexOf(".");
  return dot === -1 ? [resource, undefined] : [resource.slice(0, dot), resource.slice(dot + 1)];
}

function steps(quantity: string, step: bigint): bigint {
  return roundUp(parseQuantity(quantity).nanos, step);
}

function roundUp(amount: bigint, divisor: bigint): bigint {
  return divisor === 0n ? 0n : (amount + divisor - 1n) / divisor;
}
