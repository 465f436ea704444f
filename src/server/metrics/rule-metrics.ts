import type { Registry } from "prom-client";
import type { RuleObserver } from "../../kinds/custom/rule-observer.ts";
import { BoundHistogram } from "./bound-metric.ts";

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Registers the durations of custom resources' rules, under upstream's names. */
export function ruleMetrics(registry: Registry): RuleObserver {
  const compilations = new BoundHistogram(
    "apiserver_cel_compilation_duration_seconds",
    "Duration of compiling the rules of custom resources.",
    durationBuckets,
  );
  const evaluations = new BoundHistogram(
    "apiserver_cel_evaluation_duration_seconds",
    "Duration of evaluating the rules of custom resources.",
    durationBuckets,
  );
  for (const family of [compilations, evaluations]) family.register(registry);
  const [compilation, evaluation] = [compilations.labels({}), evaluations.labels({})];
  return { compiled: (seconds) => compilation.observe(seconds), evaluated: (seconds) => evaluation.observe(seconds) };
}
