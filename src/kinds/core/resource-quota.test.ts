import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updated, updateRefusal } from "../testing.ts";

const path = "v1/resourcequotas";
const minimal: JsonObject = { spec: { hard: { pods: 1 } } };
const rich: JsonObject = {
  spec: {
    hard: {
      "requests.cpu": "1",
      "limits.memory": "1Gi",
      pods: "4",
      "count/deployments.apps": 3,
      "requests.example.com/gpu": 1,
      "gold.storageclass.storage.k8s.io/requests.storage": "1Ti",
    },
    scopes: ["NotTerminating"],
    scopeSelector: { matchExpressions: [{ scopeName: "PriorityClass", operator: "In", values: ["high"] }] },
  },
};
const plain =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

test.each<[string, JsonObject]>([
  ["nothing", {}],
  ["little", minimal],
  ["everything", rich],
])("a ResourceQuota with %s is accepted", async (_, quota) => {
  expect(await refusal(path, quota)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["hard.pods", "-1", 'hard[pods]: Invalid value: "-1": must be greater than or equal to 0'],
  ["hard.pods", "1500m", 'hard[pods]: Invalid value: "1500m": must be an integer'],
  [
    "hard.disks",
    1,
    'hard[disks]: Invalid value: "disks": must be a standard resource type or fully qualified',
    'hard[disks]: Invalid value: "disks": must be a standard resource for quota',
  ],
  ["hard.storage", 1, 'hard[storage]: Invalid value: "storage": must be a standard resource for quota'],
  ["scopes", ["Any"], 'scopes: Invalid value: ["Any"]: unsupported scope'],
  [
    "scopes",
    ["BestEffort"],
    'scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
    'scopes: Invalid value: ["BestEffort"]: unsupported scope applied to resource',
  ],
  [
    "scopes",
    ["Terminating", "NotTerminating"],
    'scopes: Invalid value: ["Terminating","NotTerminating"]: conflicting scopes',
  ],
  [
    "scopeSelector.matchExpressions[0].values",
    [],
    "scopeSelector.matchExpressions.values: Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
  ],
  [
    "scopeSelector.matchExpressions[0].operator",
    "Exists",
    "scopeSelector.matchExpressions.values: Invalid value: [\"high\"]: must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
  ],
  [
    "scopeSelector.matchExpressions[0].operator",
    "Like",
    'scopeSelector.matchExpressions.operator: Invalid value: "Like": not a valid selector operator',
  ],
  [
    "scopeSelector.matchExpressions[0].scopeName",
    "Terminating",
    `scopeSelector.matchExpressions.operator: Invalid value: "In": ${plain}`,
  ],
])("a ResourceQuota with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, `spec.${field}`, value))).toEqual(causes.map((cause) => `spec.${cause}`));
});

test.each<[field: string, value: JsonValue, ...causes: string[]]>([
  ["hard", { pods: 2 }],
  ["scopes", ["Terminating"], 'spec.scopes: Invalid value: ["Terminating"]: field is immutable'],
])("an update that makes %s = %j gets the expected answer", async (field, value, ...causes) => {
  expect(await updateRefusal(path, rich, changed(rich, `spec.${field}`, value))).toEqual(causes);
});

test("the status has a path of its own", async () => {
  const status: JsonObject = { hard: { pods: "1" }, used: { pods: "1" } };
  expect(await updated(path, minimal, { ...rich, status }, "status")).toMatchObject({
    spec: { hard: { pods: "1" } },
    status,
  });
  expect(await updateRefusal(path, minimal, { ...minimal, status: { used: { pods: "-1" } } }, "status")).toEqual([
    'status.used[pods]: Invalid value: "-1": must be greater than or equal to 0',
  ]);
});

test("errors about a long list of scopes are made once, because each shows the list", async () => {
  const scopes = Array.from({ length: 101 }, (_, at) => `Odd${at}`);
  expect(await refusal(path, changed(rich, "spec.scopes", scopes.slice(1)))).toHaveLength(100);
  expect(await refusal(path, changed(rich, "spec.scopes", scopes))).toHaveLength(1);
});
