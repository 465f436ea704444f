import type { PodDirectory } from "../../pods/pod-directory.ts";
import type { Health } from "../health.ts";
import { podsOf } from "../pod-lists.ts";
import type { MetricFamily } from "./exposition.ts";

/** Returns the numbers of pods and containers that run on a node, and its name. */
export function podMetrics(directory: PodDirectory, nodeName: string): MetricFamily[] {
  const states = new Map([["running", 0]]);
  let pods = 0;
  for (const { sandbox, containers } of podsOf(directory, nodeName)) {
    if (sandbox?.isReady === true) pods++;
    for (const { state } of containers) states.set(state.kind, (states.get(state.kind) ?? 0) + 1);
  }
  return [
    {
      name: "kubelet_node_name",
      help: "The node's name. The count is always 1.",
      type: "gauge",
      samples: [{ labels: { node: nodeName }, value: 1 }],
    },
    {
      name: "kubelet_running_containers",
      help: "Number of containers currently running",
      type: "gauge",
      samples: [...states].map(([container_state, value]) => ({ labels: { container_state }, value })),
    },
    {
      name: "kubelet_running_pods",
      help: "Number of pods that have a running pod sandbox",
      type: "gauge",
      samples: [{ labels: {}, value: pods }],
    },
  ];
}

/** Returns the metrics of `/metrics/slis`. */
export function healthMetrics({ results }: Health): MetricFamily[] {
  const names = [...results];
  return [
    {
      name: "kubernetes_healthcheck",
      help: "This metric records the result of a single healthcheck.",
      type: "gauge",
      samples: names.map(([name, { isHealthy }]) => ({ labels: { name, type: "healthz" }, value: isHealthy ? 1 : 0 })),
    },
    {
      name: "kubernetes_healthchecks_total",
      help: "This metric records the results of all healthcheck.",
      type: "counter",
      samples: names.flatMap(([name, { passed, failed }]) => [
        ...(passed === 0 ? [] : [{ labels: { name, status: "success", type: "healthz" }, value: passed }]),
        ...(failed === 0 ? [] : [{ labels: { name, status: "error", type: "healthz" }, value: failed }]),
      ]),
    },
  ];
}

/** Returns the metrics of this process. */
export function processMetrics(): MetricFamily[] {
  const { user, system } = process.cpuUsage();
  return [
    {
      name: "process_cpu_seconds_total",
      help: "CPU time of the process in seconds.",
      type: "counter",
      samples: [{ labels: {}, value: (user + system) / 1e6 }],
    },
    {
      name: "process_resident_memory_bytes",
      help: "Resident memory of the process.",
      type: "gauge",
      samples: [{ labels: {}, value: process.memoryUsage.rss() }],
    },
    startTimeMetric(),
  ];
}

export function startTimeMetric(): MetricFamily {
  return {
    name: "process_start_time_seconds",
    help: "Start time of the process in seconds since the Unix epoch.",
    type: "gauge",
    samples: [{ labels: {}, value: Date.now() / 1_000 - process.uptime() }],
  };
}
