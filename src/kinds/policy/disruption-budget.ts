import { formatTime } from "../../api/time.ts";
import type { JsonObject } from "../../api/json.ts";
import { matchesLabels } from "../../api/label-selector.ts";
import { labelSelectorOf } from "../../api/label-selector-object.ts";
import type { KubeObject } from "../../api/object-meta.ts";
import { status, StatusError } from "../../api/status.ts";

export interface DisruptionBudget extends KubeObject {
  spec?: { selector?: JsonObject; unhealthyPodEvictionPolicy?: string };
  status?: {
    observedGeneration?: number;
    disruptedPods?: Record<string, string>;
    disruptionsAllowed?: number;
    currentHealthy?: number;
    desiredHealthy?: number;
    conditions?: Condition[];
  };
}

interface Condition extends JsonObject {
  type: string;
  status: string;
}

/** Evictions that the controller has not confirmed yet; beyond these something is wrong with it. */
const disruptedPodsMax = 2000;
/** Seconds until a budget that its controller has not seen yet is worth another try. */
const unobservedRetrySeconds = 10;
const cannotEvict = "Cannot evict pod as it would violate the pod's disruption budget.";

/** Whether the budget protects a pod with these labels; without a selector it protects none. */
export function covers({ spec }: DisruptionBudget, labels: Readonly<Record<string, string>>): boolean {
  const selector = spec?.selector === undefined ? undefined : labelSelectorOf(spec.selector);
  return selector !== undefined && matchesLabels(selector, labels);
}

/** Whether a pod that is not ready may go without being counted: it guards nothing that the budget is about. */
export function sparesUnready({ spec, status: state }: DisruptionBudget): boolean {
  if (spec?.unhealthyPodEvictionPolicy === "AlwaysAllow") return true;
  const { currentHealthy = 0, desiredHealthy = 0 } = state ?? {};
  return desiredHealthy > 0 && currentHealthy >= desiredHealthy;
}

/**
 * The budget after one more disruption.
 * @throws StatusError 429 when it allows none now, 403 when its status makes no sense
 */
export function disrupted(budget: DisruptionBudget, podName: string, nowMs: number): DisruptionBudget {
  const { name = "", generation = 0 } = budget.metadata;
  const { observedGeneration = 0, disruptionsAllowed = 0, disruptedPods = {} } = budget.status ?? {};
  if (observedGeneration < generation) throw budgetNotObserved(name);
  const ref = { group: "policy", resource: "poddisruptionbudget", name };
  if (disruptionsAllowed < 0) throw status.forbidden(ref, "pdb disruptions allowed is negative");
  if (Object.keys(disruptedPods).length > disruptedPodsMax) {
    throw status.forbidden(ref, "DisruptedPods map too big - too many evictions not confirmed by PDB controller");
  }
  if (disruptionsAllowed === 0) throw noDisruptionAllowed(budget);
  const now = formatTime(nowMs);
  const left = disruptionsAllowed - 1;
  const next: DisruptionBudget = {
    ...budget,
    status: { ...budget.status, disruptionsAllowed: left, disruptedPods: { ...disruptedPods, [podName]: now } },
  };
  if (left === 0) reportInsufficient(next, now);
  return next;
}

/** The answer while nobody knows whether the budget has room. */
export function budgetNotObserved(name: string): StatusError {
  return refusal(`The disruption budget ${name} is still being processed by the server.`, unobservedRetrySeconds);
}

function noDisruptionAllowed({ metadata, status: state }: DisruptionBudget): StatusError {
  const { name = "" } = metadata;
  const { desiredHealthy = 0, currentHealthy = 0, conditions = [] } = state ?? {};
  const condition = conditions.find(({ type }) => type === "DisruptionAllowed");
  if (condition?.status === "False" && condition["reason"] === "SyncFailed") {
    return refusal(
      `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${String(condition["message"] ?? "")}`,
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

function reportInsufficient({ status: state }: DisruptionBudget, now: string): void {
  if (state === undefined) return;
  const conditions = state.conditions ?? [];
  const old = conditions.find(({ type }) => type === "DisruptionAllowed");
  const observed = state.observedGeneration ?? 0;
  const entered: Condition = {
    type: "DisruptionAllowed",
    status: "False",
    ...(observed === 0 ? {} : { observedGeneration: observed }),
    lastTransitionTime: old?.status === "False" ? (old["lastTransitionTime"] ?? now) : now,
    reason: "InsufficientPods",
    message: "",
  };
  state.conditions = old === undefined ? [...conditions, entered] : conditions.map((c) => (c === old ? entered : c));
}
