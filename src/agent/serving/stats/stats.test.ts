import { describe, expect, test } from "bun:test";
import { runningPod, ScriptedDirectory, scriptedRuntime } from "../testing.ts";
import { CpuRates } from "./cpu-rates.ts";
import { exposition } from "./exposition.ts";
import { measurePods } from "./measured-pods.ts";
import type { NodeStats } from "./node-stats.ts";
import { RequestCounts } from "./request-counts.ts";
import { containerMetrics, resourceMetrics } from "./resource-metrics.ts";
import { summary } from "./summary.ts";

const node: NodeStats = {
  timeMs: 60_000,
  startedAtMs: 1_000,
  cpuNanoseconds: 7e9,
  cpuCount: 2,
  memory: { capacityBytes: 100, availableBytes: 60, usageBytes: 70, workingSetBytes: 40 },
  fs: { capacityBytes: 10, availableBytes: 4, usedBytes: 6, inodes: 8, inodesFree: 5 },
  processes: { max: 32_768, running: 12 },
};

function measured() {
  let calls = 0;
  const runtime = scriptedRuntime({
    stats: async () => {
      calls++;
      return ["web-main", "web-side", "unknown"].map((containerId, at) => ({
        containerId,
        timeMs: 50_000 + at,
        cpuNanoseconds: 1e9 * (at + 1),
        memoryBytes: 10 + at,
        workingSetBytes: 5 + at,
      }));
    },
  });
  const directory = new ScriptedDirectory();
  directory.add(runningPod(runtime, "web"));
  directory.add(runningPod(runtime, "idle"));
  directory.add(runningPod(runtime, "elsewhere", { spec: { nodeName: "n2", containers: [] } }));
  return { directory, calls: () => calls };
}

test("a runtime is asked once for the containers of all pods of a node", async () => {
  const { directory, calls } = measured();
  const pods = await measurePods(directory, "n1");
  expect(pods.map(({ pod, containers }) => [pod.metadata.name, containers.length])).toEqual([
    ["web", 2],
    ["idle", 0],
  ]);
  expect(calls()).toBe(1);
});

test("the summary has node, pods and containers, with what is known", async () => {
  const pods = await measurePods(measured().directory, "n1");
  const rates = new Map([
    ["", 250],
    ["web-main", 100],
  ]);
  const document = summary({ nodeName: "n1", node, pods, rates, onlyCpuAndMemory: false });
  expect(document).toEqual({
    node: {
      nodeName: "n1",
      startTime: "1970-01-01T00:00:01Z",
      cpu: { time: "1970-01-01T00:01:00Z", usageNanoCores: 250, usageCoreNanoSeconds: 7e9 },
      memory: { time: "1970-01-01T00:01:00Z", availableBytes: 60, usageBytes: 70, workingSetBytes: 40 },
      fs: {
        time: "1970-01-01T00:01:00Z",
        availableBytes: 4,
        capacityBytes: 10,
        usedBytes: 6,
        inodesFree: 5,
        inodes: 8,
        inodesUsed: 3,
      },
      runtime: { imageFs: expect.objectContaining({ capacityBytes: 10 }) },
      rlimit: { time: "1970-01-01T00:01:00Z", maxpid: 32_768, curproc: 12 },
    },
    pods: [
      {
        podRef: { name: "web", namespace: "default", uid: "uid-of-web" },
        startTime: null,
        containers: [
          {
            name: "main",
            startTime: "1970-01-01T00:00:01Z",
            cpu: { time: "1970-01-01T00:00:50Z", usageNanoCores: 100, usageCoreNanoSeconds: 1e9 },
            memory: { time: "1970-01-01T00:00:50Z", usageBytes: 10, workingSetBytes: 5 },
          },
          {
            name: "side",
            startTime: "1970-01-01T00:00:01Z",
            cpu: { time: "1970-01-01T00:00:50Z", usageCoreNanoSeconds: 2e9 },
            memory: { time: "1970-01-01T00:00:50Z", usageBytes: 11, workingSetBytes: 6 },
          },
        ],
        cpu: { time: "1970-01-01T00:00:50Z", usageNanoCores: 100, usageCoreNanoSeconds: 3e9 },
        memory: { time: "1970-01-01T00:00:50Z", usageBytes: 21, workingSetBytes: 11 },
      },
      { podRef: expect.objectContaining({ name: "idle" }), startTime: null, containers: [] },
    ],
  });
  const short = summary({ nodeName: "n1", node, pods: [], rates, onlyCpuAndMemory: true });
  expect(Object.keys((short as { node: object }).node)).toEqual(["nodeName", "startTime", "cpu", "memory"]);
});

test("metrics have times, labels and escapes", async () => {
  const pods = await measurePods(measured().directory, "n1");
  const text = exposition(resourceMetrics(node, pods));
  expect(text).toContain(
    [
      "# HELP container_cpu_usage_seconds_total CPU time of the container in seconds",
      "# TYPE container_cpu_usage_seconds_total counter",
      'container_cpu_usage_seconds_total{container="main",namespace="default",pod="web"} 1 50000',
      'container_cpu_usage_seconds_total{container="side",namespace="default",pod="web"} 2 50001\n',
    ].join("\n"),
  );
  expect(text).toContain("node_cpu_usage_seconds_total 7 60000\n");
  expect(text).toContain('pod_memory_working_set_bytes{namespace="default",pod="web"} 11 50000\n');
  expect(text).toEndWith("scrape_error 0\n");
  expect(exposition(resourceMetrics(node, undefined))).toEndWith("scrape_error 1\n");
  expect(exposition(containerMetrics(node, pods))).toContain("machine_cpu_cores 2\n");
  const odd = exposition([
    { name: "m", help: "h", type: "gauge", samples: [{ labels: { l: 'a"b\\c\nd' }, value: 1 }] },
  ]);
  expect(odd).toContain('m{l="a\\"b\\\\c\\nd"} 1\n');
});

describe("rates", () => {
  const sample = (id: string, timeMs: number, cpuNanoseconds: number) => ({ id, timeMs, cpuNanoseconds });

  test("come from the growth between two samples", () => {
    const rates = new CpuRates();
    expect(rates.update([sample("a", 0, 0)], 0).size).toBe(0);
    expect(rates.update([sample("a", 10_000, 5e9)], 10_000).get("a")).toBe(5e8);
    // Too close to the last one, and not less than nothing after a restart.
    expect(rates.update([sample("a", 10_500, 9e9)], 10_500).get("a")).toBe(5e8);
    expect(rates.update([sample("a", 20_000, 0)], 20_000).get("a")).toBe(0);
  });

  test("are computed again soon after the system's time was set back", () => {
    const rates = new CpuRates();
    rates.update([sample("a", 4_000_000, 0)], 4_000_000);
    rates.update([sample("a", 4_010_000, 5e9)], 4_010_000);
    expect(rates.update([sample("a", 410_000, 6e9)], 410_000).get("a")).toBe(5e8);
    expect(rates.update([sample("a", 420_000, 7e9)], 420_000).get("a")).toBe(1e8);
  });

  test("are forgotten with time", () => {
    const rates = new CpuRates();
    rates.update([sample("a", 0, 0)], 0);
    rates.update([sample("b", 700_000, 0)], 700_000);
    expect(rates.update([sample("a", 710_000, 1e9)], 710_000).get("a")).toBeUndefined();
  });
});

test("requests are counted by method and path", () => {
  const counts = new RequestCounts();
  counts.begin("GET", "pods", "readwrite")(0.02);
  counts.begin("GET", "pods", "readwrite")(100);
  counts.begin("POST", "exec", "readwrite");
  const text = exposition(counts.families());
  const pods = 'long_running="false",method="GET",path="pods",server_type="readwrite"';
  expect(text).toContain(`kubelet_http_requests_total{${pods}} 2\n`);
  expect(text).toContain(`kubelet_http_requests_duration_seconds_bucket{${pods},le="0.01"} 0\n`);
  expect(text).toContain(`kubelet_http_requests_duration_seconds_bucket{${pods},le="10"} 1\n`);
  expect(text).toContain(`kubelet_http_requests_duration_seconds_bucket{${pods},le="+Inf"} 2\n`);
  expect(text).toContain(`kubelet_http_requests_duration_seconds_count{${pods}} 2\n`);
  expect(text).toContain(
    'kubelet_http_inflight_requests{long_running="true",method="POST",path="exec",server_type="readwrite"} 1\n',
  );
});
