import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updated, updateRefusal } from "../testing.ts";

const path = "apps/v1/deployments";
const minimal: JsonObject = {
  spec: {
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
};
const rich: JsonObject = {
  spec: {
    replicas: 3,
    selector: {
      matchLabels: { app: "a" },
      matchExpressions: [{ key: "tier", operator: "In", values: ["web", "api"] }],
    },
    template: {
      metadata: { labels: { app: "a", tier: "web" }, annotations: { a: "b" } },
      spec: { containers: [{ name: "c", image: "i" }] },
    },
    strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "150%", maxUnavailable: 0 } },
    minReadySeconds: 1,
    revisionHistoryLimit: 0,
    paused: true,
    progressDeadlineSeconds: 2,
  },
};
const negative = "must be greater than or equal to 0";
const mismatch =
  'spec.template.metadata.labels: Invalid value: {"app":"a","tier":"web"}: `selector` does not match template `labels`';

test.each([
  ["little", minimal],
  ["everything", rich],
])("a Deployment with %s is accepted", async (_, deployment) => {
  expect(await refusal(path, deployment)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["spec.replicas", -1, `spec.replicas: Invalid value: -1: ${negative}`],
  ["spec.minReadySeconds", -1, `spec.minReadySeconds: Invalid value: -1: ${negative}`],
  ["spec.revisionHistoryLimit", -1, `spec.revisionHistoryLimit: Invalid value: -1: ${negative}`],
  [
    "spec.progressDeadlineSeconds",
    1,
    "spec.progressDeadlineSeconds: Invalid value: 1: must be greater than minReadySeconds",
  ],
  ["spec.selector", undefined, "spec.selector: Required value", mismatch],
  ["spec.selector", {}, "spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
  ["spec.selector.matchLabels.app", "b", mismatch],
  [
    "spec.selector.matchExpressions[0].operator",
    "Like",
    'spec.selector.matchExpressions[0].operator: Invalid value: "Like": not a valid selector operator',
    'spec.selector: Invalid value: {"matchLabels":{"app":"a"},"matchExpressions":[{"key":"tier","operator":"Like","values":["web","api"]}]}: invalid label selector',
  ],
  [
    "spec.strategy.type",
    "Magic",
    'spec.strategy: Unsupported value: {"Type":"Magic","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":"150%"}}: supported values: "Recreate", "RollingUpdate"',
  ],
  [
    "spec.strategy.type",
    "Recreate",
    "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
  ],
  [
    "spec.strategy.rollingUpdate.maxSurge",
    0,
    "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
  ],
  [
    "spec.strategy.rollingUpdate.maxSurge",
    "many",
    "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"many\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
    "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0",
  ],
  [
    "spec.strategy.rollingUpdate.maxUnavailable",
    "101%",
    'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
  ],
  [
    "spec.template.spec.restartPolicy",
    "Never",
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
  [
    "spec.template.spec.activeDeadlineSeconds",
    1,
    "spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported",
  ],
  ["spec.template.spec.containers[0].name", "", "spec.template.spec.containers[0].name: Required value"],
  ["spec.template.spec.containers[0].image", " "],
])("a Deployment with %s = %j gets the expected answer", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue, ...causes: string[]]>([
  ["spec.replicas", 0],
  ["spec.template.spec.containers[0].image", "j"],
  [
    "spec.selector",
    { matchLabels: { tier: "web" } },
    'spec.selector: Invalid value: {"matchLabels":{"tier":"web"}}: field is immutable',
  ],
])("an update that makes %s = %j gets the expected answer", async (field, value, ...causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue, generation: number]>([
  ["metadata.labels", { a: "b" }, 1],
  ["metadata.annotations", { a: "b" }, 2],
  ["spec.replicas", 4, 2],
  ["status", { replicas: 1 }, 1],
])("an update that makes %s = %j leads to generation %d", async (field, value, generation) => {
  const { metadata } = await updated(path, minimal, changed(minimal, field, value));
  expect(metadata.generation).toBe(generation);
});

test("the status has a path of its own", async () => {
  const status: JsonObject = { replicas: 2, readyReplicas: 1 };
  expect((await created(path, { ...minimal, status }))["status"]).toEqual({});
  expect((await updated(path, minimal, { ...minimal, status }))["status"]).toEqual({});
  const after = await updated(path, minimal, { ...rich, status }, "status");
  expect(after).toMatchObject({ metadata: { generation: 1 }, spec: { replicas: 1 }, status });
});

test.each<[status: JsonObject, ...causes: string[]]>([
  [{ unavailableReplicas: -1 }, `status.unavailableReplicas: Invalid value: -1: ${negative}`],
  [{ replicas: 1, readyReplicas: 2 }, "status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas"],
  [
    { replicas: 2, readyReplicas: 1, availableReplicas: 2 },
    "status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas",
  ],
  [{ observedGeneration: -1 }, `status.observedGeneration: Invalid value: -1: ${negative}`],
])("status %j is refused", async (status, ...causes) => {
  expect(await updateRefusal(path, minimal, { ...minimal, status }, "status")).toEqual(causes);
});
