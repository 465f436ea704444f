import { canonicalQuantity, formatQuantity, nanosPerUnit, parseQuantity, type Quantity } from "../../api/quantity.ts";
import type { ResourceList } from "../../api/types/core-v1.ts";
import { amountOf } from "./eviction-thresholds.ts";
import type { EvictionSignal } from "./machine.ts";
import type { NodeSettings } from "./node-settings.ts";

/** Signals whose hard limit is kept free, by resource. */
const keptFree: Readonly<Record<string, EvictionSignal>> = {
  memory: "memory.available",
  "ephemeral-storage": "nodefs.available",
};

/** Returns the resources of a node, and those that its pods may have. */
export function nodeResources(
  machine: ResourceList,
  settings: Pick<NodeSettings, "podsMax" | "reserved" | "evictionHard">,
): { capacity: ResourceList; allocatable: ResourceList } {
  const amounts = Object.entries(machine).map(([name, amount]) => [name, canonicalQuantity(String(amount))] as const);
  const capacity: ResourceList = { ...Object.fromEntries(amounts), pods: String(settings.podsMax) };
  const hugePages = Object.entries(capacity).filter(([name]) => name.startsWith("hugepages-"));
  const hugePagesNanos = hugePages.reduce((sum, [, amount]) => sum + parseQuantity(String(amount)).nanos, 0n);
  const allocatable = Object.entries(capacity).map(([name, amount]) => {
    const whole = parseQuantity(String(amount));
    const taken = takenFrom(name, whole, settings) + (name === "memory" ? hugePagesNanos : 0n);
    const left = whole.nanos - taken;
    return [name, formatQuantity({ ...whole, nanos: left < 0n ? 0n : left })] as const;
  });
  return { capacity, allocatable: Object.fromEntries(allocatable) };
}

function takenFrom(
  name: string,
  { nanos }: Quantity,
  { reserved, evictionHard }: Pick<NodeSettings, "reserved" | "evictionHard">,
): bigint {
  const threshold = evictionHard.get(keptFree[name] ?? "pid.available");
  const isKept = name in keptFree && threshold !== undefined;
  const free = isKept ? BigInt(Math.floor(amountOf(threshold, Number(nanos) / Number(nanosPerUnit)))) : 0n;
  return parseQuantity(String(reserved[name] ?? "0")).nanos + free * nanosPerUnit;
}
