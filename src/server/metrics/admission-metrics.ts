import type { Registry } from "prom-client";
import type { Clock } from "../../process/clock.ts";
import type { AdmissionObserver, AdmissionTimer } from "../../registry/admission-observer.ts";
import { BoundHistogram, childrenBy } from "./bound-metric.ts";
import { BoundSummary } from "./bound-summary.ts";

const durationBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5];

/** Registers the durations of admission and its plugins. */
export function admissionMetrics(registry: Registry, clock: Clock): AdmissionObserver {
  const prefix = "apiserver_admission";
  const plugins = new BoundHistogram(
    `${prefix}_controller_admission_duration_seconds`,
    "Time that an admission plugin took for a request.",
    durationBuckets,
  );
  const steps = new BoundHistogram(
    `${prefix}_step_admission_duration_seconds`,
    "Time that all admission plugins together took for a request.",
    durationBuckets,
  );
  const summaries = new BoundSummary(
    `${prefix}_step_admission_duration_seconds_summary`,
    "Time that all admission plugins together took for a request.",
    clock,
  );
  for (const family of [plugins, steps, summaries]) family.register(registry);
  return {
    pluginTimer: (type, name) => timer((labels) => plugins.labels({ name, type, ...labels })),
    stepTimer: (type) =>
      timer((labels) => {
        const [histogram, summary] = [steps.labels({ type, ...labels }), summaries.labels({ type, ...labels })];
        return {
          observe(seconds) {
            histogram.observe(seconds);
            summary.observe(seconds);
          },
        };
      }),
  };
}

interface Child {
  observe(seconds: number): void;
}

/** Returns a timer that keeps its children by operation and outcome. */
function timer(make: (labels: { readonly operation: string; readonly rejected: string }) => Child): AdmissionTimer {
  const accepted = childrenBy((operation) => make({ operation, rejected: "false" }));
  const rejected = childrenBy((operation) => make({ operation, rejected: "true" }));
  return (operation, ms, isRejected) => (isRejected ? rejected : accepted)(operation).observe(ms / 1_000);
}
