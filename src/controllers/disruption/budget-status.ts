import { equalJson, type JsonValue } from "../../api/json.ts";
import { formatTime } from "../../api/time.ts";
import type { Condition } from "../../api/types/meta-v1.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "../../api/types/policy-v1.ts";
import type { BudgetPod } from "./budget-pod.ts";

/** Time after an eviction in which the pod should be deleted. After that, the eviction counts as failed. */
export const deletionMsMax = 120_000;
const conditionType = "DisruptionAllowed";

/** The number of expected pods, and of those that must be healthy. */
export interface Expectation {
  readonly expectedPods: number;
  readonly desiredHealthy: number;
}

/** Reports whether the budget depends on the scale of the pods' controllers. */
export function dependsOnScale({ spec }: PodDisruptionBudget): boolean {
  return spec?.maxUnavailable !== undefined || typeof spec?.minAvailable === "string";
}

/** @param count number of pods, or the scale of their controllers if the budget depends on it */
export function expectationOf({ spec }: PodDisruptionBudget, count: number): Expectation {
  const { minAvailable, maxUnavailable } = spec ?? {};
  if (maxUnavailable !== undefined) {
    return { expectedPods: count, desiredHealthy: Math.max(0, count - scaled(maxUnavailable, count)) };
  }
  if (minAvailable === undefined) return { expectedPods: 0, desiredHealthy: 0 };
  return { expectedPods: count, desiredHealthy: scaled(minAvailable, count) };
}

export interface Disruptions {
  /** Evicted pods whose deletion is expected, with the time of the eviction. */
  readonly awaited: Readonly<Record<string, string>>;
  /** Evicted pods that should have been deleted by now. */
  readonly overdue: readonly string[];
  /** The time at which the next deletion is overdue. */
  readonly nextMs: number | undefined;
}

/** Checks the evictions of a budget. Forgets those of pods that are deleted or being deleted. */
export function disruptionsOf({ status }: PodDisruptionBudget, pods: readonly BudgetPod[], nowMs: number): Disruptions {
  const evicted = status?.disruptedPods ?? {};
  const found = pods.flatMap(({ name, isTerminating }) => {
    const time = evicted[name];
    return isTerminating || typeof time !== "string" ? [] : [{ name, time, dueMs: Date.parse(time) + deletionMsMax }];
  });
  const awaited = found.filter(({ dueMs }) => dueMs >= nowMs);
  return {
    awaited: Object.fromEntries(awaited.map(({ name, time }) => [name, time])),
    overdue: found.filter(({ dueMs }) => dueMs < nowMs).map(({ name }) => name),
    nextMs: awaited.length === 0 ? undefined : Math.min(...awaited.map(({ dueMs }) => dueMs)),
  };
}

/** Returns the correct status of a budget, or undefined if it already has it. */
export function nextStatus(
  budget: PodDisruptionBudget,
  { expectedPods, desiredHealthy }: Expectation,
  pods: readonly BudgetPod[],
  disruptions: Disruptions,
  nowMs: number,
): PodDisruptionBudgetStatus | undefined {
  const { generation = 0 } = budget.metadata;
  const isHealthy = ({ name, isReady, isTerminating }: BudgetPod) =>
    isReady && !isTerminating && !Object.hasOwn(disruptions.awaited, name);
  const currentHealthy = pods.filter(isHealthy).length;
  // Without pods no disruption is allowed, so that the first ones are safe before they are counted.
  const disruptionsAllowed = expectedPods > 0 ? Math.max(0, currentHealthy - desiredHealthy) : 0;
  const counts = { disruptionsAllowed, currentHealthy, desiredHealthy, expectedPods };
  const disruptedPods = Object.keys(disruptions.awaited).length === 0 ? {} : { disruptedPods: disruptions.awaited };
  const isAllowed = disruptionsAllowed > 0;
  const condition = {
    type: conditionType,
    status: isAllowed ? "True" : "False",
    reason: isAllowed ? "SufficientPods" : "InsufficientPods",
    message: "",
    observedGeneration: generation,
  };
  const next = { observedGeneration: generation, ...disruptedPods, ...counts };
  const conditions = withCondition(budget.status?.conditions, condition, nowMs);
  const status = { ...next, conditions } as PodDisruptionBudgetStatus;
  return equalJson(withoutEmpty(budget.status) as JsonValue, status as unknown as JsonValue) ? undefined : status;
}

/** Returns a status that allows no disruption, because the budget could not be computed. */
export function failedStatus(
  { status }: PodDisruptionBudget,
  message: string,
  nowMs: number,
): PodDisruptionBudgetStatus {
  const { observedGeneration } = status ?? {};
  const condition = {
    type: conditionType,
    status: "False",
    reason: "SyncFailed",
    message,
    ...(observedGeneration !== undefined && { observedGeneration }),
  };
  const counts = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  return {
    ...counts,
    ...status,
    disruptionsAllowed: 0,
    conditions: withCondition(status?.conditions, condition, nowMs),
  };
}

function withCondition(
  conditions: readonly Condition[] = [],
  condition: Omit<Condition, "lastTransitionTime">,
  nowMs: number,
): Condition[] {
  const old = conditions.find(({ type }) => type === condition.type);
  const now = formatTime(nowMs);
  const lastTransitionTime = old?.status === condition.status ? (old.lastTransitionTime ?? now) : now;
  const entered: Condition = { ...condition, lastTransitionTime };
  return old === undefined ? [...conditions, entered] : conditions.map((one) => (one === old ? entered : one));
}

function withoutEmpty(status: PodDisruptionBudgetStatus | undefined): object {
  const { disruptedPods, ...rest } = status ?? {};
  return disruptedPods === undefined || Object.keys(disruptedPods).length === 0 ? rest : { ...rest, disruptedPods };
}

/** Percentages are rounded up. */
function scaled(value: string | number, count: number): number {
  return typeof value === "number" ? value : Math.ceil((Number.parseInt(value, 10) * count) / 100);
}
