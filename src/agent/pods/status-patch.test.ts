import { expect, test } from "bun:test";
import type { ResourceInfo } from "../../api/scheme/resource.ts";
import type { Pod, PodStatus } from "../../api/types/core-v1.ts";
import { Scheme } from "../../kinds/scheme.ts";
import { patchedObject } from "../testing.ts";
import { podStatus } from "./pod-status.ts";
import { statusPatch } from "./status-patch.ts";
import { container, type ViewOptions, viewOf } from "./testing.ts";

const since = "2026-01-01T00:00:00Z";
const ready = {
  type: "Ready",
  status: "True",
  observedGeneration: 1,
  lastProbeTime: null,
  lastTransitionTime: since,
} as const;
const gate = { type: "a.example/gate", status: "True" } as const;

function patchFrom(status: PodStatus, wanted: PodStatus) {
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", uid: "u" }, status };
  return statusPatch(pod, wanted)?.status;
}

test("an equal status needs no patch, whatever form its numbers and prototypes have", () => {
  const stored = Object.assign(Object.create(null), {
    phase: "Running",
    conditions: [{ ...ready, observedGeneration: 1n }],
  });
  expect(patchFrom(stored, { phase: "Running", conditions: [ready] })).toBeUndefined();
});

test("the patch names the uid, and only what changes", () => {
  const pod: Pod = { apiVersion: "v1", kind: "Pod", metadata: { uid: "u" }, status: { phase: "Pending", reason: "x" } };
  expect(statusPatch(pod, { phase: "Running", startTime: since })).toEqual({
    metadata: { uid: "u" },
    status: { phase: "Running", reason: null, startTime: since },
  });
});

test("conditions of others are not mentioned but for their place", () => {
  const unready = { ...ready, status: "False", reason: "ContainersNotReady" } as const;
  expect(patchFrom({ conditions: [gate, ready] }, { conditions: [gate, unready] })).toEqual({
    "$setElementOrder/conditions": [{ type: gate.type }, { type: "Ready" }],
    conditions: [{ message: null, ...unready }],
  });
});

test("a reason that is gone is removed, and so is a condition of the agent", () => {
  const resizing = { type: "PodResizeInProgress", status: "True" } as const;
  const patch = patchFrom({ conditions: [{ ...ready, reason: "x" }, resizing, gate] }, { conditions: [ready] });
  expect(patch).toMatchObject({
    conditions: [
      { reason: null, message: null, ...ready },
      { $patch: "delete", type: "PodResizeInProgress" },
    ],
  });
});

test("addresses are replaced, because they would be merged", () => {
  expect(patchFrom({ podIPs: [{ ip: "10.0.0.1" }] }, { podIPs: [{ ip: "10.0.0.2" }] })).toEqual({
    podIPs: [{ $patch: "replace" }, { ip: "10.0.0.2" }],
  });
});

test("fields of other components stay", () => {
  expect(patchFrom({ nominatedNodeName: "n", resourceClaimStatuses: [{ name: "c" }] }, {})).toBeUndefined();
});

test("a status that was written needs no further patch", () => {
  const info = Scheme.builtIn().find("", "v1", "pods") as ResourceInfo;
  const resources = { requests: { cpu: "1" }, limits: { cpu: "2", memory: "1Gi" } };
  const steps: readonly ViewOptions[] = [
    { sandboxes: [] },
    { spec: { containers: [container("web", { resources })] }, runs: [["web", "running"]] },
    {
      runs: [
        ["web", 1],
        ["web", "running", 1],
      ],
      metadata: { generation: 2 },
    },
    { spec: { restartPolicy: "Never" }, runs: [["web", 3, 2]], sandboxes: [false] },
  ];
  const options = {
    runtimeType: "fake",
    verdict: undefined,
    conditions: [],
    isFinished: false,
    hostIps: ["192.0.2.1"],
  };
  let stored = viewOf({}).pod;
  for (const [at, step] of steps.entries()) {
    const wanted = podStatus(viewOf({ ...step, old: stored.status ?? {} }), { ...options, nowMs: at * 60_000 });
    const patch = statusPatch(stored, wanted);
    if (patch === undefined) throw new Error(`step ${at} changes nothing`);
    stored = patchedObject(stored, patch, info);
    expect(statusPatch(stored, wanted)).toBeUndefined();
  }
});
