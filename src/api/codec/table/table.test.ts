import { describe, expect, test } from "bun:test";
import { eventConversion } from "../../../kinds/events/conversion.ts";
import type { JsonObject } from "../../json.ts";
import { humanDuration } from "./human-duration.ts";
import { cells, rowConditions } from "./testing.ts";

test.each([
  [-2_000, "<invalid>"],
  [-1_000, "0s"],
  [0, "0s"],
  [119_000, "119s"],
  [120_000, "2m"],
  [200_000, "3m20s"],
  [600_000, "10m"],
  [3 * 3_600_000 - 1, "179m"],
  [3 * 3_600_000, "3h"],
  [5 * 3_600_000 + 600_000, "5h10m"],
  [8 * 3_600_000 + 600_000, "8h"],
  [47 * 3_600_000, "47h"],
  [76 * 3_600_000, "3d4h"],
  [9 * 86_400_000, "9d"],
  [729 * 86_400_000, "729d"],
  [810 * 86_400_000, "2y80d"],
  [9 * 365 * 86_400_000, "9y"],
] as const)("humanDuration() writes %d ms as %s", (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});

const running = { ready: true, state: { running: {} } };
const containers = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `c${at}` }));

describe("the row of a pod", () => {
  const cases: [string, JsonObject, JsonObject][] = [
    ["a pod without status", { spec: { containers: containers(1) } }, { Status: "", Ready: "0/1", Restarts: "0" }],
    [
      "a running pod",
      {
        spec: { containers: containers(2), nodeName: "n1" },
        status: { phase: "Running", podIPs: [{ ip: "10.0.0.5" }], containerStatuses: [running, running] },
      },
      { Status: "Running", Ready: "2/2", IP: "10.0.0.5", Node: "n1", "Nominated Node": "<none>" },
    ],
    [
      "a crash loop with its restarts",
      {
        spec: { containers: containers(1) },
        status: {
          phase: "Running",
          containerStatuses: [
            {
              restartCount: 3,
              state: { waiting: { reason: "CrashLoopBackOff" } },
              lastState: { terminated: { finishedAt: "2026-01-01T00:55:00Z" } },
            },
          ],
        },
      },
      { Status: "CrashLoopBackOff", Ready: "0/1", Restarts: "3 (5m ago)" },
    ],
    [
      "the first container that has something to say",
      {
        spec: { containers: containers(2) },
        status: {
          phase: "Pending",
          containerStatuses: [
            { state: { waiting: { reason: "ErrImagePull" } } },
            { state: { waiting: { reason: "ContainerCreating" } } },
          ],
        },
      },
      { Status: "ErrImagePull" },
    ],
    [
      "the init container whose turn it is",
      {
        spec: { containers: containers(1), initContainers: [{ name: "a" }, { name: "b" }] },
        status: {
          phase: "Pending",
          initContainerStatuses: [
            { name: "a", state: { terminated: { exitCode: 0 } } },
            { name: "b", state: { waiting: { reason: "PodInitializing" } } },
          ],
          containerStatuses: [{ state: { waiting: { reason: "PodInitializing" } } }],
        },
      },
      { Status: "Init:1/2" },
    ],
    [
      "an init container that failed",
      {
        spec: { containers: containers(1), initContainers: [{ name: "a" }] },
        status: { initContainerStatuses: [{ name: "a", restartCount: 2, state: { terminated: { exitCode: 7 } } }] },
      },
      { Status: "Init:ExitCode:7", Restarts: "2" },
    ],
    [
      "a killed init container",
      {
        spec: { containers: containers(1), initContainers: [{ name: "a" }] },
        status: { initContainerStatuses: [{ name: "a", state: { terminated: { exitCode: 137, signal: 9 } } }] },
      },
      { Status: "Init:Signal:9" },
    ],
    [
      "a started sidecar among the ready ones",
      {
        spec: { containers: containers(1), initContainers: [{ name: "s", restartPolicy: "Always" }] },
        status: {
          phase: "Running",
          initContainerStatuses: [{ name: "s", started: true, ready: true, restartCount: 1, state: { running: {} } }],
          containerStatuses: [running],
        },
      },
      { Status: "Running", Ready: "2/2", Restarts: "1" },
    ],
    [
      "a completed container beside one that runs",
      {
        spec: { containers: containers(2) },
        status: {
          phase: "Running",
          conditions: [{ type: "Ready", status: "True" }],
          containerStatuses: [{ state: { terminated: { reason: "Completed", exitCode: 0 } } }, running],
        },
      },
      { Status: "Running", Ready: "1/2" },
    ],
    [
      "the same when the pod is not ready",
      {
        spec: { containers: containers(2) },
        status: {
          phase: "Running",
          containerStatuses: [{ state: { terminated: { reason: "Completed", exitCode: 0 } } }, running],
        },
      },
      { Status: "NotReady" },
    ],
    [
      "a pod that is being deleted",
      { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, status: { phase: "Running" } },
      { Status: "Terminating" },
    ],
    [
      "a deleted pod on a lost node",
      { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, status: { phase: "Running", reason: "NodeLost" } },
      { Status: "Unknown" },
    ],
    [
      "a finished pod that is being deleted",
      { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" }, status: { phase: "Succeeded" } },
      { Status: "Succeeded" },
    ],
    ["an evicted pod", { status: { phase: "Failed", reason: "Evicted" } }, { Status: "Evicted" }],
    [
      "a pod that waits for its scheduling gates",
      {
        status: {
          phase: "Pending",
          conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }],
        },
      },
      { Status: "SchedulingGated" },
    ],
    [
      "readiness gates",
      {
        spec: { readinessGates: [{ conditionType: "a" }, { conditionType: "b" }] },
        status: { conditions: [{ type: "a", status: "True" }] },
      },
      { "Readiness Gates": "1/2" },
    ],
  ];
  test.each(cases)("shows %s", (_name, pod, expected) => {
    expect(cells("", "Pod", pod)).toMatchObject(expected);
  });

  test("marks the rows of pods that have ended", () => {
    expect(rowConditions("", "Pod", { status: { phase: "Failed" } })[0]).toMatchObject({
      type: "Completed",
      reason: "Failed",
    });
    expect(rowConditions("", "Pod", { status: { phase: "Running" } })).toEqual([]);
  });
});

test.each([
  [{ status: { conditions: [{ type: "Ready", status: "True" }] } }, "Ready"],
  [
    { status: { conditions: [{ type: "Ready", status: "Unknown" }] }, spec: { unschedulable: true } },
    "NotReady,SchedulingDisabled",
  ],
  [{}, "Unknown"],
] as const)("a node with %j is %s", (node, text) => {
  expect(cells("", "Node", node as unknown as JsonObject)["Status"]).toBe(text);
});

test("a node's row shows its roles in order, and its addresses", () => {
  const node = {
    metadata: { labels: { "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "" } },
    status: { addresses: [{ type: "InternalIP", address: "10.0.0.1" }], nodeInfo: { kubeletVersion: "v1.36.0" } },
  };
  expect(cells("", "Node", node)).toMatchObject({
    Roles: "control-plane,worker",
    "Internal-IP": "10.0.0.1",
    "External-IP": "<none>",
    "OS-Image": "<unknown>",
    Version: "v1.36.0",
  });
});

test("a row of events.k8s.io is that of the stored event", () => {
  const regarding = {
    metadata: {},
    regarding: { kind: "Pod", name: "x" },
    reportingController: "kubelet",
    reportingInstance: "n1",
    eventTime: "2026-01-01T00:50:00.000000Z",
    series: { count: 4, lastObservedTime: "2026-01-01T00:55:00.000000Z" },
    note: "pulled",
  };
  expect(cells("", "Event", eventConversion.toStorage(regarding))).toMatchObject(eventRow);
});

test("an event's row shows its source and its last occurrence", () => {
  const event = {
    involvedObject: { kind: "Pod", name: "x" },
    source: { component: "kubelet", host: "n1" },
    lastTimestamp: "2026-01-01T00:55:00Z",
    firstTimestamp: "2026-01-01T00:50:00Z",
    count: 4,
    message: " pulled\n",
  };
  expect(cells("", "Event", event)).toMatchObject(eventRow);
});

const eventRow = {
  "Last Seen": "5m",
  "First Seen": "10m",
  Object: "pod/x",
  Source: "kubelet, n1",
  Count: 4,
  Message: "pulled",
};
