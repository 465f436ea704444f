import type { NodeCondition } from "../../api/types/core-v1.ts";
import { problemsText } from "../problems-text.ts";
import { type Pressure, pressures as pressureTypes } from "./eviction-thresholds.ts";

/** The state of a node when its conditions are evaluated. */
export interface NodeFindings {
  readonly pressures: ReadonlySet<Pressure>;
  /** Why the node is not ready; none if it is. */
  readonly problems: readonly string[];
}

export interface EvaluatedConditions {
  readonly conditions: NodeCondition[];
  /** Reasons of the Events about what has changed. */
  readonly events: readonly string[];
}

interface Wording {
  readonly reason: string;
  readonly message: string;
  readonly event: string;
}

const wordings: Readonly<Record<Pressure, { readonly True: Wording; readonly False: Wording }>> = {
  MemoryPressure: {
    True: {
      reason: "KubeletHasInsufficientMemory",
      message: "kubelet has insufficient memory available",
      event: "NodeHasInsufficientMemory",
    },
    False: {
      reason: "KubeletHasSufficientMemory",
      message: "kubelet has sufficient memory available",
      event: "NodeHasSufficientMemory",
    },
  },
  DiskPressure: {
    True: { reason: "KubeletHasDiskPressure", message: "kubelet has disk pressure", event: "NodeHasDiskPressure" },
    False: {
      reason: "KubeletHasNoDiskPressure",
      message: "kubelet has no disk pressure",
      event: "NodeHasNoDiskPressure",
    },
  },
  PIDPressure: {
    True: {
      reason: "KubeletHasInsufficientPID",
      message: "kubelet has insufficient PID available",
      event: "NodeHasInsufficientPID",
    },
    False: {
      reason: "KubeletHasSufficientPID",
      message: "kubelet has sufficient PID available",
      event: "NodeHasSufficientPID",
    },
  },
};

/**
 * Returns the conditions after a heartbeat at `now`. Conditions of others keep their places. A transition time changes
 * only with the status.
 */
export function evaluateConditions(
  old: readonly NodeCondition[],
  { pressures, problems }: NodeFindings,
  now: string,
): EvaluatedConditions {
  const conditions = [...old];
  const events: string[] = [];
  const set = (type: string, status: "True" | "False", { reason, message }: Omit<Wording, "event">) => {
    const at = conditions.findIndex((condition) => condition.type === type);
    const before = conditions[at];
    const lastTransitionTime = before?.status === status ? (before.lastTransitionTime ?? now) : now;
    const next = { type, status, lastHeartbeatTime: now, lastTransitionTime, reason, message };
    if (at < 0) conditions.push(next);
    else conditions[at] = next;
    return before;
  };
  for (const type of pressureTypes) {
    const status = pressures.has(type) ? "True" : "False";
    const wording = wordings[type][status];
    if (set(type, status, wording)?.status !== status) events.push(wording.event);
  }
  const isReady = problems.length === 0;
  const before = isReady
    ? set("Ready", "True", { reason: "KubeletReady", message: "kubelet is posting ready status" })
    : set("Ready", "False", { reason: "KubeletNotReady", message: problemsText(problems) });
  // A first report changes nothing.
  if (before !== undefined && before.status !== (isReady ? "True" : "False")) {
    events.push(isReady ? "NodeReady" : "NodeNotReady");
  }
  return { conditions, events };
}
