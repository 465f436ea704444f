import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updated, updateRefusal } from "../testing.ts";

const path = "apps/v1/replicasets";
const minimal: JsonObject = {
  spec: {
    selector: { matchLabels: { app: "a" } },
    template: { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } },
  },
};
const rich: JsonObject = { spec: { ...(minimal["spec"] as JsonObject), replicas: 0, minReadySeconds: 5 } };
const negative = "must be greater than or equal to 0";

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ReplicaSet with %s is accepted", async (_, set) => {
  expect(await refusal(path, set)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["spec.replicas", -1, `spec.replicas: Invalid value: -1: ${negative}`],
  ["spec.minReadySeconds", -1, `spec.minReadySeconds: Invalid value: -1: ${negative}`],
  [
    "spec.selector",
    undefined,
    "spec.selector: Required value",
    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
  ],
  ["spec.selector", {}, "spec.selector: Invalid value: {}: empty selector is invalid for deployment"],
  [
    "spec.template.metadata.labels",
    undefined,
    "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
  ],
  [
    "spec.template.spec.restartPolicy",
    "OnFailure",
    'spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"',
  ],
  ["spec.template.spec.containers", [], "spec.template.spec.containers: Required value"],
  [
    "spec.template.spec.ephemeralContainers",
    [{ name: "e", image: "i" }],
    "spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template",
  ],
])("a ReplicaSet with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test("the selector cannot change", async () => {
  const template: JsonObject = {
    metadata: { labels: { app: "b" } },
    spec: { containers: [{ name: "c", image: "i" }] },
  };
  const after: JsonObject = { spec: { selector: { matchLabels: { app: "b" } }, template } };
  expect(await updateRefusal(path, minimal, after)).toEqual([
    'spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable',
  ]);
});

test("the generation counts changes of the spec, and the status is none", async () => {
  const status: JsonObject = { replicas: 1, fullyLabeledReplicas: 1 };
  expect((await updated(path, minimal, rich)).metadata.generation).toBe(2);
  expect(await updated(path, minimal, { ...rich, status }, "status")).toMatchObject({
    metadata: { generation: 1 },
    spec: { replicas: 1 },
    status,
  });
  expect(await updateRefusal(path, minimal, { status: { replicas: 1, fullyLabeledReplicas: 2 } }, "status")).toEqual([
    "status.fullyLabeledReplicas: Invalid value: 2: cannot be greater than status.replicas",
  ]);
});
