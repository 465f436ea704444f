import type { Registry } from "prom-client";
import type { Clock } from "../../process/clock.ts";
import type { AdmissionObserver, AdmissionTime } from "../../registry/admission-observer.ts";
import { BoundHistogram, childrenBy } from "./bound-metric.ts";
import { BoundSummary } from "./bound-summary.ts";

const durationBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** Registers the durations of admission and of its plugins. Every request passes here, so children are found quickly. */
export function admissionMetrics(registry: Registry, clock: Clock): AdmissionObserver {
  const prefix = "apiserver_admission";
  const plugins = new BoundHistogram(
    `${prefix}_controller_admission_duration_seconds`,
    "Time that a plugin has taken for a request.",
    durationBuckets,
  );
  const steps = new BoundHistogram(
    `${prefix}_step_admission_duration_seconds`,
    "Time that all plugins together have taken for a request.",
    durationBuckets,
  );
  const summaries = new BoundSummary(
    `${prefix}_step_admission_duration_seconds_summary`,
    "Time that all plugins together have taken for a request.",
    clock,
  );
  for (const family of [plugins, steps, summaries]) family.register(registry);
  const pluginOf = childrenBy((name) => byTime((labels) => plugins.labels({ name, ...labels })));
  const stepOf = byTime((labels) => ({ histogram: steps.labels(labels), summary: summaries.labels(labels) }));
  return {
    plugin: (name, time) => pluginOf(name)(time).observe(time.seconds),
    step(time) {
      const { histogram, summary } = stepOf(time);
      histogram.observe(time.seconds);
      summary.observe(time.seconds);
    },
  };
}

interface TimeLabels extends Readonly<Record<string, string>> {
  readonly type: string;
  readonly operation: string;
  readonly rejected: string;
}

/** Keeps children by step, operation and outcome. */
function byTime<Child>(make: (labels: TimeLabels) => Child): (time: AdmissionTime) => Child {
  const childOf = childrenBy((type) =>
    childrenBy((operation) => ({
      accepted: childrenBy(() => make({ type, operation, rejected: "false" })),
      rejected: childrenBy(() => make({ type, operation, rejected: "true" })),
    })),
  );
  return ({ step, operation, isRejected }) => {
    const { accepted, rejected } = childOf(step)(operation);
    return isRejected ? rejected("") : accepted("");
  };
}
