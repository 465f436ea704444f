import type { NodeCondition } from "../../api/types/core-v1.ts";
import type { NodeLifecycleSettings } from "./node-lifecycle-settings.ts";
import type { NodeState } from "./node-state.ts";

/** Conditions that become Unknown when a node is silent. The control plane itself maintains NetworkUnavailable. */
const vouchedConditions = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/**
 * A node's last signs of life. They count from the time when this server noticed them: the nodes' clocks are not compared
 * with ours, and a new leader gives every node the full time.
 */
export interface NodeHealth {
  /** Time of the last sign of life, by the steady clock. */
  readonly probeMs: number;
  readonly ready: NodeCondition | undefined;
  /** Last renewal of the node's Lease. */
  readonly renewTime: string | undefined;
}

export interface Moment {
  readonly steadyMs: number;
  /** Since the epoch. */
  readonly nowMs: number;
}

/** Updates the signs of life. A new heartbeat or a renewed Lease is one. */
export function observedHealth(
  known: NodeHealth | undefined,
  node: NodeState,
  renewTime: string | undefined,
  { steadyMs, nowMs }: Moment,
): NodeHealth {
  const { ready } = node;
  const isRenewed = renewTime !== undefined && (known?.renewTime === undefined || known.renewTime < renewTime);
  const isReported =
    ready !== undefined && (known?.ready === undefined || known.ready.lastHeartbeatTime !== ready.lastHeartbeatTime);
  const sinceCreationMs = Math.max(0, nowMs - Date.parse(node.created) || 0);
  return {
    probeMs: isRenewed || isReported ? steadyMs : (known?.probeMs ?? steadyMs - sinceCreationMs),
    ready,
    renewTime: isRenewed ? renewTime : known?.renewTime,
  };
}

/** Reports whether the node has been silent for too long. */
export function isSilent(
  { probeMs, ready }: NodeHealth,
  steadyMs: number,
  { startupGraceMs, monitorGraceMs }: NodeLifecycleSettings,
): boolean {
  return steadyMs > probeMs + (ready === undefined ? startupGraceMs : monitorGraceMs);
}

/** Returns the conditions of a silent node; undefined if they already say so. */
export function silentConditions(
  conditions: readonly NodeCondition[],
  created: string,
  now: string,
): NodeCondition[] | undefined {
  if (conditions.some(({ type, status }) => type === "Ready" && status === "Unknown")) return undefined;
  const next = conditions.map((condition) =>
    vouchedConditions.includes(condition.type) && condition.status !== "Unknown"
      ? {
          ...condition,
          status: "Unknown",
          reason: "NodeStatusUnknown",
          message: "Kubelet stopped posting node status.",
          lastTransitionTime: now,
        }
      : condition,
  );
  const missing = vouchedConditions.filter((type) => !conditions.some((condition) => condition.type === type));
  const added = missing.map((type) => ({
    type,
    status: "Unknown",
    reason: "NodeStatusNeverUpdated",
    message: "Kubelet never posted node status.",
    lastHeartbeatTime: created,
    lastTransitionTime: now,
  }));
  return [...next, ...added];
}
