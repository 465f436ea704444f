import type { Registry } from "prom-client";
import type { PolicyCheck, PolicyObserver } from "../../admission/policies/policy-observer.ts";
import { BoundCounter, BoundHistogram } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";
import type { CountConditions } from "./condition-metrics.ts";
import type { Labels } from "./exposition.ts";

const checkBuckets = [5e-7, 0.001, 0.01, 0.1, 1];
const nameLabels = ["policy", "policy_binding"];

/** Registers the metrics of policies under upstream's names. */
export function policyMetrics(registry: Registry, countConditions: CountConditions): PolicyObserver {
  const validated = checks(registry, "validating", "Checks by ValidatingAdmissionPolicies that affected the answer.");
  const mutated = checks(registry, "mutating", "Mutations by MutatingAdmissionPolicies.");
  return {
    validated: (check, enforcement) => validated(check, { enforcement_action: enforcement }),
    mutated: (check) => mutated(check, {}),
    conditions: (name, operation, time) => countConditions({ name, kind: "policy", type: "validate", operation }, time),
  };
}

function checks(registry: Registry, sort: string, help: string): (check: PolicyCheck, more: Labels) => void {
  const prefix = `apiserver_${sort}_admission_policy_check`;
  const totals = new BoundCounter(`${prefix}_total`, help);
  const durations = new BoundHistogram(`${prefix}_duration_seconds`, `Duration. ${help}`, checkBuckets);
  for (const family of [totals, durations]) family.register(registry);
  const childOf = boundSeries(
    (labels) => ({ total: totals.labels(labels), duration: durations.labels(labels) }),
    nameLabels,
  );
  return ({ policy, binding, errorType, seconds }, more) => {
    const { total, duration } = childOf({ policy, policy_binding: binding, error_type: errorType, ...more });
    total.value++;
    duration.observe(seconds);
  };
}
