import { matchesLabels } from "../../api/label-selector.ts";
import { labelSelectorOf } from "../../api/label-selector-object.ts";
import { StatusError, status } from "../../api/status.ts";
import { formatTime } from "../../api/time.ts";
import type { Condition } from "../../api/types/meta-v1.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "../../api/types/policy-v1.ts";

const emptyStatus: PodDisruptionBudgetStatus = {
  disruptionsAllowed: 0,
  currentHealthy: 0,
  desiredHealthy: 0,
  expectedPods: 0,
};

/** Evictions that the controller has not confirmed yet; beyond these something is wrong with it. */
const disruptedPodsMax = 2000;
/** Seconds until a budget that its controller has not seen yet is worth another try. */
const unobservedRetrySeconds = 10;
const cannotEvict = "Cannot evict pod as it would violate the pod's disruption budget.";

/** Reports whether the budget protects a pod with these labels. Without a selector it protects none. */
export function covers({ spec }: PodDisruptionBudget, labels: Readonly<Record<string, string>>): boolean {
  const selector = spec?.selector === undefined ? undefined : labelSelectorOf(spec.selector);
  return selector !== undefined && matchesLabels(selector, labels);
}

/** Reports whether a pod that is not ready may be evicted without being counted. */
export function sparesUnready({ spec, status: state }: PodDisruptionBudget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = state ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

/**
 * Returns the budget after one more disruption.
 * @throws StatusError 429 when it allows none now, 403 when its status makes no sense
 */
export function disrupted(budget: PodDisruptionBudget, podName: string, nowMs: number): PodDisruptionBudget {
  const { name = "", generation = 0 } = budget.metadata;
  const state = budget.status ?? emptyStatus;
  const { observedGeneration = 0, disruptionsAllowed, disruptedPods = {} } = state;
  if (observedGeneration < generation) throw budgetNotObserved(name);
  const ref = { group: "policy", resource: "poddisruptionbudget", name };
  if (disruptionsAllowed < 0) throw status.forbidden(ref, "pdb disruptions allowed is negative");
  if (Object.keys(disruptedPods).length > disruptedPodsMax) {
    throw status.forbidden(ref, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (disruptionsAllowed === 0) throw noDisruptionAllowed(budget);
  const now = formatTime(nowMs);
  const left = disruptionsAllowed - 1;
  const next: PodDisruptionBudget = {
    ...budget,
    status: { ...state, disruptionsAllowed: left, disruptedPods: { ...disruptedPods, [podName]: now } },
  };
  if (left === 0) reportInsufficient(next, now);
  return next;
}

/** Returns the error for a budget that its controller has not counted yet. */
export function budgetNotObserved(name: string): StatusError {
  return refusal(`The disruption budget ${name} is still being processed by the server.`, unobservedRetrySeconds);
}

function noDisruptionAllowed({ metadata, status: state }: PodDisruptionBudget): StatusError {
  const { name = "" } = metadata;
  const { desiredHealthy = 0, currentHealthy = 0, conditions = [] } = state ?? {};
  const condition = conditions.find(({ type }) => type === "DisruptionAllowed");
  if (condition?.status === "False" && condition.reason === "SyncFailed") {
    return refusal(
      `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${condition.message}`,
    );
  }
  return refusal(
    `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`,
  );
}

function refusal(message: string, retryAfterSeconds = 0): StatusError {
  const error = status.tooManyRequests(cannotEvict, retryAfterSeconds);
  const causes = [{ reason: "DisruptionBudget", message }];
  return new StatusError({
    ...error.status,
    details: { causes, ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }) },
  });
}

function reportInsufficient({ status: state }: PodDisruptionBudget, now: string): void {
  if (state === undefined) return;
  const conditions = state.conditions ?? [];
  const old = conditions.find(({ type }) => type === "DisruptionAllowed");
  const observed = state.observedGeneration ?? 0;
  const entered: Condition = {
    type: "DisruptionAllowed",
    status: "False",
    ...(observed === 0 ? {} : { observedGeneration: observed }),
    lastTransitionTime: old?.status === "False" ? (old.lastTransitionTime ?? now) : now,
    reason: "InsufficientPods",
    message: "",
  };
  state.conditions = old === undefined ? [...conditions, entered] : conditions.map((c) => (c === old ? entered : c));
}
