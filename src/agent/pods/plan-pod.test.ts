import { describe, expect, test } from "bun:test";
import { type PodAction, planPod } from "./plan-pod.ts";
import type { PodView } from "./pod-view.ts";
import { container, type ViewOptions, viewOf } from "./testing.ts";

const steadyMs = 100_000;

/** Returns the actions in a few words each, `done` for a pod that is to end, and the reasons of delays. */
function planned(options: ViewOptions): string[] {
  const { actions, delayed, isDone } = planPod(viewOf(options), steadyMs);
  const waits = [...delayed].map(([name, { reason }]) => `${name} waits: ${reason}`);
  return isDone ? ["done"] : [...actions.map(wordsOf), ...waits];
}

function wordsOf(action: PodAction): string {
  switch (action.kind) {
    case "run-sandbox":
      return `sandbox ${action.attempt}${action.stale.length > 0 ? ` without ${action.stale.join(" ")}` : ""}`;
    case "start-container":
      return `start ${action.container.spec.name}#${action.attempt}`;
    case "stop-container":
      return `stop ${action.run.id}: ${action.message}`;
    case "update-resources":
      return `update ${action.run.id}`;
  }
}

const always = { restartPolicy: "Always" } as const;
const init = [container("i1"), container("i2")];
const sidecars = [container("s1", always), container("i2"), container("s3", always)];
const probes = (results: Record<string, "success" | "failure" | "unknown">): Partial<PodView> => ({
  probeResult: ({ name }, kind) => results[`${name} ${kind}`],
});

describe("the sandbox of a pod", () => {
  const cases: readonly [string, ViewOptions, string[]][] = [
    ["is made first", { sandboxes: [] }, ["sandbox 0"]],
    ["is made again when it is lost", { sandboxes: [false], runs: [["web", 255]] }, ["sandbox 1"]],
    ["is made again while containers end", { sandboxes: [false], runs: [["web", "running"]] }, ["sandbox 1"]],
    [
      "takes the init containers with it",
      {
        sandboxes: [false],
        spec: { initContainers: init },
        runs: [
          ["i1", 0],
          ["i2", 0],
          ["web", 1],
        ],
      },
      ["sandbox 1 without i1#0 i2#0"],
    ],
    [
      "is not made again for a pod that never restarts",
      { sandboxes: [false], spec: { restartPolicy: "Never" }, runs: [["web", 255]] },
      ["done"],
    ],
    [
      "is made again for a pod that never restarts and has not started",
      { sandboxes: [false], spec: { restartPolicy: "Never" } },
      ["sandbox 1"],
    ],
    [
      "is not made again when all containers have succeeded",
      { sandboxes: [false], spec: { restartPolicy: "OnFailure" }, runs: [["web", 0]] },
      ["done"],
    ],
  ];
  test.each(cases)("%s", (_, options, expected) => expect(planned(options)).toEqual(expected));
});

describe("containers", () => {
  const two = { containers: [container("a"), container("b")] };
  const cases: readonly [string, ViewOptions, string[]][] = [
    ["start", { spec: two }, ["start a#0", "start b#0"]],
    [
      "are left alone while they run",
      {
        spec: two,
        runs: [
          ["a", "running"],
          ["b", "running"],
        ],
      },
      [],
    ],
    ["start again after they ended", { runs: [["web", 0]] }, ["start web#1"]],
    ["start again after a failure", { spec: { restartPolicy: "OnFailure" }, runs: [["web", 1]] }, ["start web#1"]],
    ["that succeeded end a pod", { spec: { restartPolicy: "OnFailure" }, runs: [["web", 0]] }, ["done"]],
    ["that failed end a pod", { spec: { restartPolicy: "Never" }, runs: [["web", 1]] }, ["done"]],
    [
      "that ended leave the others running",
      {
        spec: { ...two, restartPolicy: "Never" },
        runs: [
          ["a", 0],
          ["b", "running"],
        ],
      },
      [],
    ],
    ["that were made but not started are made again", { runs: [["web", "created"]] }, ["start web#1"]],
    [
      "in an unknown state are stopped first",
      { runs: [["web", "unknown"]] },
      ['stop web#0: Container is in "unknown" state, try killing it before restart', "start web#1"],
    ],
    [
      "have a restart policy of their own",
      { spec: { containers: [container("web", { restartPolicy: "Never" })] }, runs: [["web", 1]] },
      ["done"],
    ],
    [
      "restart by a rule",
      {
        spec: {
          restartPolicy: "Never",
          containers: [
            container("web", {
              restartPolicy: "Never",
              restartPolicyRules: [{ action: "Restart", exitCodes: { operator: "In", values: [42] } }],
            }),
          ],
        },
        runs: [["web", 42]],
      },
      ["start web#1"],
    ],
    [
      "whose image changed are restarted",
      {
        runs: [["web", "running"]],
        more: { applied: new Map([["web", { containerId: "web#0", image: "nginx:0", resources: undefined }]]) },
      },
      ["stop web#0: Container web definition changed, will be restarted"],
    ],
    [
      "go on counting after their runs were removed",
      { old: { containerStatuses: [status("web", 4)] } },
      ["start web#5"],
    ],
  ];
  test.each(cases)("%s", (_, options, expected) => expect(planned(options)).toEqual(expected));
});

describe("init containers", () => {
  const spec = { initContainers: init };
  const cases: readonly [string, ViewOptions, string[]][] = [
    ["start with the first", { spec }, ["start i1#0"]],
    ["run one at a time", { spec, runs: [["i1", "running"]] }, []],
    ["follow each other", { spec, runs: [["i1", 0]] }, ["start i2#0"]],
    [
      "come before all others",
      {
        spec,
        runs: [
          ["i1", 0],
          ["i2", 0],
        ],
      },
      ["start web#0"],
    ],
    [
      "restart after a failure",
      {
        spec,
        runs: [
          ["i1", 0],
          ["i2", 3],
        ],
      },
      ["start i2#1"],
    ],
    ["end a pod that never restarts", { spec: { ...spec, restartPolicy: "Never" }, runs: [["i1", 1]] }, ["done"]],
    ["are not needed again once the pod runs", { spec, runs: [["web", "running"]] }, []],
    ["may be forgotten but for the last", { spec, runs: [["i2", 0]] }, ["start web#0"]],
  ];
  test.each(cases)("%s", (_, options, expected) => expect(planned(options)).toEqual(expected));
});

describe("sidecars", () => {
  const spec = { initContainers: sidecars };
  const started = probes({ "s1 startup": "success" });
  const cases: readonly [string, ViewOptions, string[]][] = [
    ["run beside what follows", { spec, runs: [["s1", "running"]] }, ["start i2#0"]],
    [
      "are waited for until they have started",
      { spec, runs: [["s1", "running"]], more: probes({ "s1 startup": "unknown" }) },
      [],
    ],
    ["have started when their probe says so", { spec, runs: [["s1", "running"]], more: started }, ["start i2#0"]],
    [
      "restart while others initialize",
      {
        spec,
        runs: [
          ["s1", 1],
          ["i2", "running"],
        ],
      },
      ["start s1#1"],
    ],
    [
      "may be the last to start",
      {
        spec,
        runs: [
          ["s1", "running"],
          ["i2", 0],
          ["s3", "running"],
        ],
      },
      ["start web#0"],
    ],
    [
      "restart whatever the policy of the pod is",
      {
        spec: { ...spec, restartPolicy: "Never" },
        runs: [
          ["s1", 0],
          ["i2", 0],
          ["s3", "running"],
          ["web", "running"],
        ],
      },
      ["start s1#1"],
    ],
    [
      "do not keep a pod alive",
      {
        spec: { ...spec, restartPolicy: "Never" },
        runs: [
          ["s1", 0],
          ["i2", 0],
          ["s3", "running"],
          ["web", 0],
        ],
      },
      ["done"],
    ],
    [
      "that fail their probe are restarted",
      {
        spec,
        runs: [
          ["s1", "running"],
          ["i2", "running"],
        ],
        more: probes({ "s1 liveness": "failure" }),
      },
      ["stop s1#0: Init container s1 failed liveness probe, will be restarted"],
    ],
  ];
  test.each(cases)("%s", (_, options, expected) => expect(planned(options)).toEqual(expected));
});

describe("probes", () => {
  const runs = [["web", "running"]] as const;
  test("a container that fails its liveness probe is restarted", () => {
    expect(planned({ runs, more: probes({ "web liveness": "failure" }) })).toEqual([
      "stop web#0: Container web failed liveness probe, will be restarted",
    ]);
  });
  test("one that never restarts ends", () => {
    const spec = { restartPolicy: "Never" } as const;
    expect(planned({ spec, runs, more: probes({ "web startup": "failure" }) })).toEqual(["done"]);
  });
  test("it starts again although it ended well", () => {
    const more = { restarting: new Set(["web#0"]) };
    expect(planned({ spec: { restartPolicy: "OnFailure" }, runs: [["web", 0]], more })).toEqual(["start web#1"]);
  });
});

describe("a container that failed before", () => {
  test("waits after its end", () => {
    const view = viewOf({
      runs: [["web", 1, 3]],
      more: { restartDelay: () => ({ delayMs: 160_000, untilMs: 162_000 }) },
    });
    const { delayed, actions } = planPod(view, steadyMs);
    expect(actions).toEqual([]);
    expect(delayed.get("web")).toEqual({
      reason: "CrashLoopBackOff",
      message: "back-off 2m40s restarting failed container=web pod=p_n(u)",
      retryAtMs: 162_000,
    });
  });
  test("starts when the wait is over", () => {
    const more = { restartDelay: () => ({ delayMs: 98_000, untilMs: steadyMs }) };
    expect(planned({ runs: [["web", 1, 3]], more })).toEqual(["start web#4"]);
  });
  test("waits for the next pull of its image", () => {
    const waiting = new Map([["web", { reason: "ImagePullBackOff", message: "", retryAtMs: steadyMs + 1 }]]);
    expect(planned({ more: { waiting } })).toEqual(["web waits: ImagePullBackOff"]);
  });
});

describe("resources that change", () => {
  const spec = { containers: [container("web", { resources: { requests: { cpu: "200m" } } })] };
  const runs = [["web", "running"]] as const;
  const applied = (cpu: string) =>
    new Map([["web", { containerId: "web#0", image: "nginx:1", resources: { requests: { cpu } } }]]);
  test("are given to the running container", () => {
    expect(planned({ spec, runs, more: { applied: applied("100m") } })).toEqual(["update web#0"]);
  });
  test("are equal in another notation", () => {
    expect(planned({ spec, runs, more: { applied: applied("0.2") } })).toEqual([]);
  });
  test("wait while the node has no room", () => {
    expect(planned({ spec, runs, more: { applied: applied("100m"), holdsResize: true } })).toEqual([]);
  });
  test("restart the container if its policy says so", () => {
    const resizePolicy = [{ resourceName: "cpu", restartPolicy: "RestartContainer" }] as const;
    const containers = spec.containers.map((one) => ({ ...one, resizePolicy: [...resizePolicy] }));
    expect(planned({ spec: { containers }, runs, more: { applied: applied("100m") } })).toEqual([
      "stop web#0: Container web resize requires restart, will be restarted",
    ]);
  });
});

test("ephemeral containers start at once and never again", () => {
  const spec = { ephemeralContainers: [{ name: "debug", image: "busybox" }] };
  expect(planned({ spec, runs: [["web", "running"]] })).toEqual(["start debug#0"]);
  expect(
    planned({
      spec,
      runs: [
        ["web", "running"],
        ["debug", 1],
      ],
    }),
  ).toEqual([]);
});

function status(name: string, restartCount: number) {
  return { name, restartCount, ready: true, image: "nginx:1", imageID: "i", containerID: "fake://c" };
}
