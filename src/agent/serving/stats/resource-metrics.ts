import type { MetricFamily, Sample } from "./exposition.ts";
import { type MeasuredContainer, type MeasuredPod, sumOf } from "./measured-pods.ts";
import type { NodeStats } from "./node-stats.ts";

const nanosecondsPerSecond = 1e9;

/** Returns the metrics of `/metrics/resource`, which autoscalers read. Undefined pods could not be measured. */
export function resourceMetrics(node: NodeStats, pods: readonly MeasuredPod[] | undefined): MetricFamily[] {
  const all = pods ?? [];
  const error = [{ labels: {}, value: pods === undefined ? 1 : 0 }];
  const ofContainers = (valueOf: (one: MeasuredContainer) => number) =>
    all.flatMap(({ pod: { metadata }, containers }) =>
      containers.map((one) => {
        const labels = { container: one.container.name, namespace: metadata.namespace ?? "", pod: metadata.name ?? "" };
        return { labels, value: valueOf(one), timeMs: one.timeMs };
      }),
    );
  const ofPods = (valueOf: (one: MeasuredContainer) => number): Sample[] =>
    all
      .filter(({ containers }) => containers.length > 0)
      .map((measured) => ({
        labels: { namespace: measured.pod.metadata.namespace ?? "", pod: measured.pod.metadata.name ?? "" },
        value: sumOf(measured, valueOf),
        timeMs: measured.containers[0]?.timeMs,
      }));
  const ofNode = (value: number | undefined): Sample[] =>
    value === undefined ? [] : [{ labels: {}, value, timeMs: node.timeMs }];
  const cpuSeconds = (one: MeasuredContainer) => one.cpuNanoseconds / nanosecondsPerSecond;
  const workingSet = (one: MeasuredContainer) => one.workingSetBytes;
  const nodeCpu = node.cpuNanoseconds === undefined ? undefined : node.cpuNanoseconds / nanosecondsPerSecond;
  return [
    counter("container_cpu_usage_seconds_total", "CPU time of the container in seconds", ofContainers(cpuSeconds)),
    gauge("container_memory_working_set_bytes", "Working set of the container in bytes", ofContainers(workingSet)),
    gauge(
      "container_start_time_seconds",
      "Start time of the container in seconds since the Unix epoch",
      ofContainers((one) => one.startedAtMs / 1_000),
    ),
    counter("node_cpu_usage_seconds_total", "CPU time of the node in seconds", ofNode(nodeCpu)),
    gauge("node_memory_working_set_bytes", "Working set of the node in bytes", ofNode(node.memory?.workingSetBytes)),
    counter("pod_cpu_usage_seconds_total", "CPU time of the pod in seconds", ofPods(cpuSeconds)),
    gauge("pod_memory_working_set_bytes", "Working set of the pod in bytes", ofPods(workingSet)),
    gauge("resource_scrape_error", "1 if container metrics could not be measured, 0 otherwise", error),
    gauge("scrape_error", "1 if container metrics could not be measured, 0 otherwise", error),
  ];
}

/** Returns the metrics of `/metrics/cadvisor` that the runtime's statistics give. */
export function containerMetrics(node: NodeStats, pods: readonly MeasuredPod[]): MetricFamily[] {
  const samples = (valueOf: (one: MeasuredContainer) => number, more: Readonly<Record<string, string>> = {}) =>
    pods.flatMap(({ pod: { metadata }, containers }) =>
      containers.map((one) => ({
        labels: {
          container: one.container.name,
          ...more,
          id: `/${metadata.uid ?? ""}/${one.containerId}`,
          image: one.container.image,
          name: one.containerId,
          namespace: metadata.namespace ?? "",
          pod: metadata.name ?? "",
        },
        value: valueOf(one),
        timeMs: one.timeMs,
      })),
    );
  const ofMachine = (value: number | undefined): Sample[] => (value === undefined ? [] : [{ labels: {}, value }]);
  return [
    counter(
      "container_cpu_usage_seconds_total",
      "Cumulative cpu time consumed in seconds.",
      samples((one) => one.cpuNanoseconds / nanosecondsPerSecond, { cpu: "total" }),
    ),
    gauge(
      "container_last_seen",
      "Last time a container was seen.",
      samples((one) => one.timeMs / 1_000),
    ),
    gauge(
      "container_memory_usage_bytes",
      "Current memory usage in bytes.",
      samples((one) => one.memoryBytes),
    ),
    gauge(
      "container_memory_working_set_bytes",
      "Current working set in bytes.",
      samples((one) => one.workingSetBytes),
    ),
    gauge(
      "container_start_time_seconds",
      "Start time of the container since unix epoch in seconds.",
      samples((one) => one.startedAtMs / 1_000),
    ),
    gauge("machine_cpu_cores", "Number of logical CPU cores.", ofMachine(node.cpuCount)),
    gauge("machine_memory_bytes", "Amount of memory installed on the machine.", ofMachine(node.memory?.capacityBytes)),
  ];
}

function counter(name: string, help: string, samples: readonly Sample[]): MetricFamily {
  return { name, help, type: "counter", samples };
}

function gauge(name: string, help: string, samples: readonly Sample[]): MetricFamily {
  return { name, help, type: "gauge", samples };
}
