import type { Registry } from "prom-client";
import type { ConditionsTime } from "../../admission/expressions/match-conditions.ts";
import { BoundCounter, BoundHistogram } from "./bound-metric.ts";
import { boundSeries } from "./bound-series.ts";
import type { Labels } from "./exposition.ts";

const durationBuckets = [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25];

/** Counts an evaluation of match conditions that excluded the request. */
export type CountConditions = (labels: ConditionsLabels, time: ConditionsTime) => void;

interface ConditionsLabels extends Labels {
  readonly name: string;
  readonly kind: "webhook" | "policy";
  readonly type: string;
  readonly operation: string;
}

/** Registers the metrics of match conditions of webhooks and policies. */
export function conditionMetrics(registry: Registry): CountConditions {
  const exclusions = new BoundCounter(
    "apiserver_admission_match_condition_exclusions_total",
    "Requests that a webhook's match conditions excluded.",
  );
  const failures = new BoundCounter(
    "apiserver_admission_match_condition_evaluation_errors_total",
    "Failed evaluations of match conditions.",
  );
  const durations = new BoundHistogram(
    "apiserver_admission_match_condition_evaluation_seconds",
    "Duration of evaluating match conditions that excluded the request.",
    durationBuckets,
  );
  for (const family of [exclusions, failures, durations]) family.register(registry);
  const exclusionOf = boundSeries((labels) => exclusions.labels(labels));
  const failureOf = boundSeries((labels) => failures.labels(labels));
  const durationOf = boundSeries((labels) => durations.labels(labels));
  return (labels, { seconds, isExcluded, errors }) => {
    durationOf(labels).observe(seconds);
    if (isExcluded && labels.kind === "webhook") exclusionOf(labels).value++;
    if (errors > 0) failureOf(labels).value += errors;
  };
}
