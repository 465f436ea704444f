import type { Node, NodeCondition, Taint } from "../../api/types/core-v1.ts";

const notReadyKey = "node.kubernetes.io/not-ready";
const unreachableKey = "node.kubernetes.io/unreachable";
const unschedulableKey = "node.kubernetes.io/unschedulable";

/** Taints for the states of each condition. */
const conditionTaints: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: notReadyKey, Unknown: unreachableKey },
  MemoryPressure: { True: "node.kubernetes.io/memory-pressure" },
  DiskPressure: { True: "node.kubernetes.io/disk-pressure" },
  NetworkUnavailable: { True: "node.kubernetes.io/network-unavailable" },
  PIDPressure: { True: "node.kubernetes.io/pid-pressure" },
};
const managedKeys = new Set([
  unschedulableKey,
  ...Object.values(conditionTaints).flatMap((byStatus) => Object.values(byStatus)),
]);

export type TaintIdentity = Pick<Taint, "key" | "effect">;

export const notReadyTaint: TaintIdentity = { key: notReadyKey, effect: "NoExecute" };
export const unreachableTaint: TaintIdentity = { key: unreachableKey, effect: "NoExecute" };

/** Returns the NoExecute taint for the status of Ready, and the taint that it replaces. */
export function evictingTaints(ready: string): { readonly due: TaintIdentity; readonly opposite: TaintIdentity } {
  return ready === "Unknown"
    ? { due: unreachableTaint, opposite: notReadyTaint }
    : { due: notReadyTaint, opposite: unreachableTaint };
}

export function hasTaint(taints: readonly Taint[], sought: TaintIdentity): boolean {
  return taints.some((taint) => isSameTaint(taint, sought));
}

/** Returns the taints after a change. Remaining taints are unchanged; `now` is the time of new ones. */
export function changedTaints(
  taints: readonly Taint[],
  change: { readonly added: readonly TaintIdentity[]; readonly removed: readonly TaintIdentity[] },
  now: string,
): readonly Taint[] {
  const added = change.added.filter((taint) => !hasTaint(taints, taint));
  const kept = taints.filter((taint) => !hasTaint(change.removed as readonly Taint[], taint));
  if (added.length === 0 && kept.length === taints.length) return taints;
  return [...kept, ...added.map((taint) => ({ ...taint, timeAdded: now }))];
}

/** Returns a node's taints with the scheduling taints that its conditions require. */
export function schedulingTaints({ spec = {}, status = {} }: Node, now: string): readonly Taint[] {
  const keys = (status.conditions ?? []).flatMap((condition) => taintKeyOf(condition) ?? []);
  if (spec.unschedulable === true) keys.push(unschedulableKey);
  const added = [...new Set(keys)].map((key) => ({ key, effect: "NoSchedule" }));
  const taints = spec.taints ?? [];
  const removed = taints.filter(
    ({ key, effect }) => effect === "NoSchedule" && managedKeys.has(key) && !keys.includes(key),
  );
  return changedTaints(taints, { added, removed }, now);
}

function taintKeyOf({ type, status }: NodeCondition): string | undefined {
  return conditionTaints[type]?.[status];
}

function isSameTaint(one: TaintIdentity, other: TaintIdentity): boolean {
  return one.key === other.key && one.effect === other.effect;
}
