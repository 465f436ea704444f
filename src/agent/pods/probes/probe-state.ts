import type { Probe } from "../../../api/types/core-v1.ts";
import type { RuntimeId } from "../../runtime/runtime.ts";
import type { ProbeKind, ProbeResult } from "../pod-view.ts";

const periodMsDefault = 10_000;

/** The results of one probe of one run of a container. */
export interface ProbeState {
  readonly containerId: RuntimeId;
  /** Result once a threshold was reached. */
  readonly result: ProbeResult;
  /** Latest outcome, and how often it came in a row. */
  readonly last: "success" | "failure" | undefined;
  readonly inRow: number;
  /** Time of the next probe, by the steady clock; undefined if there is none for this run. */
  readonly dueMs: number | undefined;
}

/** Results before the first probe. A container is not ready until it says so, and alive until it does not. */
const initialResults = { startup: "unknown", liveness: "success", readiness: "failure" } as const satisfies Record<
  ProbeKind,
  ProbeResult
>;

/**
 * Returns the state for a new run of a container.
 * @param startedMs time of its start, by the steady clock
 * @param known result from before a restart of the agent
 */
export function newProbeState(
  containerId: RuntimeId,
  kind: ProbeKind,
  probe: Probe,
  startedMs: number,
  known?: ProbeResult,
): ProbeState {
  const dueMs = startedMs + (probe.initialDelaySeconds ?? 0) * 1_000;
  const isOver = kind === "startup" && known === "success";
  return {
    containerId,
    result: known ?? initialResults[kind],
    last: undefined,
    inRow: 0,
    dueMs: isOver ? undefined : dueMs,
  };
}

/** Counts an outcome. Below its threshold, it leaves the result as it is. */
export function afterOutcome(
  state: ProbeState,
  kind: ProbeKind,
  probe: Probe,
  outcome: "success" | "failure",
  steadyMs: number,
): ProbeState {
  const inRow = state.last === outcome ? state.inRow + 1 : 1;
  const threshold = outcome === "success" ? (probe.successThreshold ?? 1) : (probe.failureThreshold ?? 3);
  const dueMs = nextProbeMs(probe, steadyMs);
  if (inRow < threshold) return { ...state, last: outcome, inRow, dueMs };
  // The container is about to restart, or has started for good.
  const isLast = kind === "startup" || (kind === "liveness" && outcome === "failure");
  return { ...state, result: outcome, last: outcome, inRow: isLast ? 0 : inRow, dueMs: isLast ? undefined : dueMs };
}

export function nextProbeMs({ periodSeconds }: Probe, steadyMs: number): number {
  return steadyMs + (periodSeconds === undefined ? periodMsDefault : periodSeconds * 1_000);
}
