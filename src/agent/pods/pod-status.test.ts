import { describe, expect, test } from "bun:test";
import type { ContainerStatus, PodStatus } from "../../api/types/core-v1.ts";
import type { RuntimeContainer } from "../runtime/runtime.ts";
import { type PodStatusOptions, podStatus } from "./pod-status.ts";
import type { PodView } from "./pod-view.ts";
import { container, type ViewOptions, viewOf } from "./testing.ts";

const options: PodStatusOptions = {
  runtimeType: "fake",
  isFinished: false,
  hostIps: ["192.0.2.1", "2001:db8::1"],
  verdict: undefined,
  conditions: [],
  nowMs: 10_000,
};

const statusOf = (view: ViewOptions, more: Partial<PodStatusOptions> = {}): PodStatus =>
  podStatus(viewOf(view), { ...options, ...more });
const always = { restartPolicy: "Always" } as const;
const init = [container("i1"), container("i2")];
const sidecar = [container("s", always)];
const never = { restartPolicy: "Never" } as const;
const onFailure = { restartPolicy: "OnFailure" } as const;
const probes = (results: Record<string, "success" | "failure" | "unknown">): Partial<PodView> => ({
  probeResult: ({ name }, kind) => results[`${name} ${kind}`],
});

describe("the phase", () => {
  const cases: readonly [string, ViewOptions, PodStatus["phase"]][] = [
    ["is Pending before anything runs", { sandboxes: [] }, "Pending"],
    ["is Pending while init containers run", { spec: { initContainers: init }, runs: [["i1", "running"]] }, "Pending"],
    ["is Pending while a container has not started", { spec: two(), runs: [["a", "running"]] }, "Pending"],
    [
      "is Running when all have started",
      {
        spec: two(),
        runs: [
          ["a", "running"],
          ["b", 1],
        ],
      },
      "Running",
    ],
    ["is Running while a container is to restart", { runs: [["web", 1]] }, "Running"],
    ["is Running while a failed one is to restart", { spec: onFailure, runs: [["web", 1]] }, "Running"],
    [
      "is Running while a container restarts that the agent stopped",
      { spec: onFailure, runs: [["web", 0]], more: { restarting: new Set(["web#0"]) } },
      "Running",
    ],
    ["is Succeeded when all ended well", { spec: onFailure, runs: [["web", 0]] }, "Succeeded"],
    [
      "is Failed when one failed",
      {
        spec: { ...two(), ...never },
        runs: [
          ["a", 0],
          ["b", 2],
        ],
      },
      "Failed",
    ],
    [
      "is Failed when an init container failed",
      { spec: { ...never, initContainers: init }, runs: [["i1", 1]] },
      "Failed",
    ],
    ["never leaves its end", { old: { phase: "Succeeded" }, sandboxes: [] }, "Succeeded"],
    [
      "is not final while a sidecar runs",
      {
        spec: { ...never, initContainers: sidecar },
        old: { phase: "Running" },
        runs: [
          ["s", "running"],
          ["web", 0],
        ],
      },
      "Running",
    ],
    [
      "ignores how sidecars ended",
      {
        spec: { ...never, initContainers: sidecar },
        old: { phase: "Running" },
        runs: [
          ["s", 137],
          ["web", 0],
        ],
      },
      "Succeeded",
    ],
    [
      "stays Running while a sidecar restarts",
      {
        spec: { initContainers: sidecar },
        old: { phase: "Running" },
        runs: [
          ["s", 1],
          ["web", "running"],
        ],
      },
      "Running",
    ],
  ];
  test.each(cases)("%s", (_, view, phase) => expect(statusOf(view).phase).toBe(phase as never));

  test("of a pod that was stopped is Failed if it had not ended well", () => {
    expect(statusOf({ runs: [["web", 0]] }, { isFinished: true }).phase).toBe("Succeeded");
    expect(statusOf({ runs: [["web", 143]] }, { isFinished: true }).phase).toBe("Failed");
    expect(statusOf({ sandboxes: [] }, { isFinished: true }).phase).toBe("Failed");
  });

  test("comes with a reason that lasts as long", () => {
    const verdict = { reason: "DeadlineExceeded", message: "too long" };
    const ended = statusOf({ runs: [["web", 137]] }, { isFinished: true, verdict });
    expect(ended).toMatchObject({ phase: "Failed", ...verdict });
    expect(statusOf({ runs: [["web", 137]], old: ended }, { isFinished: true })).toMatchObject(verdict);
    expect(statusOf({ runs: [["web", "running"]], old: { phase: "Pending", reason: "x" } }).reason).toBeUndefined();
  });
});

test("a container shows the user with which it runs, if the runtime tells", () => {
  const user = { uid: 1_000, gid: 2_000, supplementalGroups: [3_000] };
  const [run] = viewOf({ runs: [["web", "running"]] }).containers;
  const shown = statusOf({ more: { containers: [{ ...(run as RuntimeContainer), user }] } });
  expect(shown.containerStatuses?.[0]?.user).toEqual({ linux: user });
  expect(Object.keys(statusOf({ runs: [["web", "running"]] }).containerStatuses?.[0] ?? {})).not.toContain("user");
});

describe("the conditions", () => {
  const conditions = (view: ViewOptions, more: Partial<PodStatusOptions> = {}) =>
    (statusOf(view, more).conditions ?? []).map(({ type, status, reason = "", message = "" }) =>
      [type, status, reason, message].filter(Boolean).join(" "),
    );

  test("of a new pod", () => {
    expect(conditions({ sandboxes: [], spec: { initContainers: init } })).toEqual([
      "PodReadyToStartContainers False",
      "Initialized False ContainersNotInitialized containers with incomplete status: [i1 i2]",
      "Ready False ContainersNotReady containers with unready status: [web]",
      "ContainersReady False ContainersNotReady containers with unready status: [web]",
      "PodScheduled True",
    ]);
  });

  test("of a pod that runs", () => {
    expect(conditions({ runs: [["web", "running"]] })).toEqual([
      "PodReadyToStartContainers True",
      "Initialized True",
      "Ready True",
      "ContainersReady True",
      "PodScheduled True",
    ]);
  });

  test("of a pod that has succeeded", () => {
    expect(conditions({ spec: never, runs: [["web", 0]], sandboxes: [false] })).toEqual([
      "PodReadyToStartContainers False",
      "Initialized True PodCompleted",
      "Ready False PodCompleted",
      "ContainersReady False PodCompleted",
      "PodScheduled True",
    ]);
  });

  test("wait for readiness gates of others", () => {
    const spec = { readinessGates: [{ conditionType: "a.example/x" }, { conditionType: "b.example/y" }] };
    const old = { conditions: [{ type: "b.example/y", status: "False" }] } satisfies PodStatus;
    expect(conditions({ spec, old, runs: [["web", "running"]] })[3]).toBe(
      'Ready False ReadinessGatesNotReady corresponding condition of pod readiness gate "a.example/x" does not exist., ' +
        'the status of pod readiness gate "b.example/y" is not "True", but False',
    );
  });

  test("of others come first and stay as they are", () => {
    const gate = { type: "a.example/x", status: "True", reason: "Because", lastTransitionTime: "2026-01-01T00:00:00Z" };
    const old: PodStatus = { conditions: [{ type: "PodScheduled", status: "True" }, gate as never] };
    expect(statusOf({ old }).conditions?.[0]).toEqual(gate as never);
  });

  test("keep their time while their status lasts, and note the generation", () => {
    const first = statusOf({ runs: [["web", "running"]] });
    const view = { runs: [["web", "running"]] as const, old: first, metadata: { generation: 2 } };
    const later = statusOf(view, { nowMs: 60_000 });
    expect(later.observedGeneration).toBe(2);
    expect(later.conditions).toEqual(first.conditions?.map((one) => ({ ...one, observedGeneration: 2 })) as never);
    const unready = statusOf({ runs: [["web", 1]], old: first }, { nowMs: 60_000 });
    const times = Object.fromEntries((unready.conditions ?? []).map((one) => [one.type, one.lastTransitionTime]));
    expect(times).toMatchObject({ Ready: "1970-01-01T00:01:00Z", PodScheduled: "1970-01-01T00:00:10Z" });
  });
});

describe("the status of a container", () => {
  const first = (view: ViewOptions, more: Partial<PodStatusOptions> = {}): ContainerStatus =>
    statusOf(view, more).containerStatuses?.[0] as ContainerStatus;

  test("waits for the sandbox, or for the init containers", () => {
    expect(first({ sandboxes: [] })).toEqual({
      name: "web",
      image: "nginx:1",
      imageID: "",
      ready: false,
      started: false,
      restartCount: 0,
      state: { waiting: { reason: "ContainerCreating" } },
      lastState: {},
    });
    expect(first({ spec: { initContainers: init } }).state?.waiting?.reason).toBe("PodInitializing");
  });

  test("of one that runs", () => {
    expect(first({ runs: [["web", "running", 2]] })).toEqual({
      name: "web",
      image: "nginx:1",
      imageID: "nginx@sha256:1",
      containerID: "fake://web#2",
      ready: true,
      started: true,
      restartCount: 2,
      state: { running: { startedAt: "1970-01-01T00:00:01Z" } },
      lastState: {},
      resources: {},
    });
  });

  test("remembers the run before", () => {
    const { lastState, restartCount } = first({
      runs: [
        ["web", 3, 0],
        ["web", "running", 1],
      ],
    });
    expect(restartCount).toBe(1);
    expect(lastState).toEqual({
      terminated: {
        exitCode: 3,
        reason: "Error",
        startedAt: "1970-01-01T00:00:01Z",
        finishedAt: "1970-01-01T00:00:02Z",
        containerID: "fake://web#0",
      },
    });
  });

  test("remembers a run that the runtime has forgotten", () => {
    const old = statusOf({ runs: [["web", 3]] });
    const { lastState, restartCount } = first({ old, runs: [["web", "running", 1]] });
    expect({ restartCount, code: lastState?.terminated?.exitCode }).toEqual({ restartCount: 1, code: 3 });
  });

  test("shows why it is not started again", () => {
    const waiting = new Map([["web", { reason: "CrashLoopBackOff", message: "back-off", retryAtMs: 0 }]]);
    expect(first({ runs: [["web", 1]], more: { waiting } })).toMatchObject({
      state: { waiting: { reason: "CrashLoopBackOff", message: "back-off" } },
      lastState: { terminated: { exitCode: 1 } },
    });
  });

  test("shows no wait for a container that stays ended", () => {
    const waiting = new Map([["web", { reason: "CrashLoopBackOff", message: "back-off", retryAtMs: 0 }]]);
    expect(first({ spec: never, runs: [["web", 1]], more: { waiting } }).state?.terminated?.exitCode).toBe(1);
  });

  test("of one that was running when the runtime lost it", () => {
    const old = statusOf({ runs: [["web", "running"]] });
    expect(first({ old, sandboxes: [] })).toMatchObject({
      restartCount: 1,
      state: { waiting: { reason: "ContainerCreating" } },
      lastState: {
        terminated: {
          exitCode: 137,
          reason: "ContainerStatusUnknown",
          message: "The container could not be located when the pod was deleted.  The container used to be Running",
        },
      },
    });
  });

  test("of one that was not seen ending with its pod", () => {
    const old = statusOf({ runs: [["web", "running"]] });
    const { state } = first({ old, sandboxes: [] }, { isFinished: true });
    expect(state?.terminated).toMatchObject({
      exitCode: 137,
      reason: "ContainerStatusUnknown",
      message: "The container could not be located when the pod was terminated",
    });
  });

  test("is ready when its probes say so", () => {
    const runs = [["web", "running"]] as const;
    const readiness = (results: Parameters<typeof probes>[0]) => {
      const { started, ready } = first({ runs, more: probes(results) });
      return { started, ready };
    };
    expect(readiness({ "web startup": "unknown" })).toEqual({ started: false, ready: false });
    expect(readiness({ "web startup": "success" })).toEqual({ started: true, ready: true });
    expect(readiness({ "web readiness": "failure" })).toEqual({ started: true, ready: false });
    expect(readiness({ "web readiness": "success" })).toEqual({ started: true, ready: true });
  });

  test("has the resources that it was given, and those that it is to have", () => {
    const spec = { containers: [container("web", { resources: { requests: { cpu: "2" } } })] };
    const applied = new Map([
      ["web", { containerId: "web#0", image: "nginx:1", resources: { requests: { cpu: "1" } } }],
    ]);
    const runs = [["web", "running"]] as const;
    expect(first({ spec, runs, more: { applied } })).toMatchObject({
      resources: { requests: { cpu: "1" } },
      allocatedResources: { cpu: "2" },
    });
    expect(first({ spec, runs, more: { applied, holdsResize: true } }).allocatedResources).toEqual({ cpu: "1" });
  });

  test("lists init containers in order and the others by name", () => {
    const spec = { initContainers: [container("z"), container("y")], containers: [container("b"), container("a")] };
    const { initContainerStatuses = [], containerStatuses = [] } = statusOf({ spec });
    expect(initContainerStatuses.map(({ name }) => name)).toEqual(["z", "y"]);
    expect(containerStatuses.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  test("says of an init container that it is ready when it has succeeded", () => {
    const spec = { initContainers: init };
    const { initContainerStatuses } = statusOf({
      spec,
      runs: [
        ["i1", 0],
        ["i2", "running"],
      ],
    });
    expect(initContainerStatuses).toMatchObject([
      { name: "i1", ready: true, started: false },
      { name: "i2", ready: false, started: true },
    ]);
  });
});

test("a pod has the addresses of its sandbox, or on the host's network those of the node", () => {
  expect(statusOf({})).toMatchObject({
    hostIP: "192.0.2.1",
    hostIPs: [{ ip: "192.0.2.1" }, { ip: "2001:db8::1" }],
    podIP: "10.1.0.1",
    podIPs: [{ ip: "10.1.0.1" }],
  });
  expect(statusOf({ spec: { hostNetwork: true } }).podIP).toBe("192.0.2.1");
  expect(statusOf({ sandboxes: [] }).podIP).toBeUndefined();
});

function two() {
  return { containers: [container("a"), container("b")] };
}
