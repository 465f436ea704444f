import type { PodDirectory } from "../../pods/pod-directory.ts";
import type { ProbeKind } from "../../pods/pod-view.ts";
import { podsOf } from "../pod-lists.ts";
import type { MetricFamily, Sample } from "./exposition.ts";

const types: Readonly<Record<ProbeKind, string>> = {
  liveness: "Liveness",
  readiness: "Readiness",
  startup: "Startup",
};

/** Returns the results of the probes of a node's pods. Those of a pod go with it. */
export function probeMetrics(directory: PodDirectory, nodeName: string): MetricFamily[] {
  const totals: Sample[] = [];
  const durations: Sample[] = [];
  for (const { pod: known, probes } of podsOf(directory, nodeName)) {
    const { namespace = "", name: pod = "", uid: pod_uid = "" } = known.metadata;
    for (const { container, kind, ...count } of probes) {
      const labels = { container, namespace, pod, probe_type: types[kind] };
      const add = (result: string, value: number) => {
        if (value > 0) totals.push({ labels: { ...labels, pod_uid, result }, value });
      };
      add("failed", count.failures);
      add("successful", count.successes);
      if (count.successes > 0) durations.push(...count.durations.samples(labels));
    }
  }
  return [
    {
      name: "prober_probe_duration_seconds",
      help: "Duration in seconds for a probe response.",
      type: "histogram",
      samples: durations,
    },
    {
      name: "prober_probe_total",
      help: "Cumulative number of a liveness, readiness or startup probe for a container by result.",
      type: "counter",
      samples: totals,
    },
  ];
}
