import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updated, updateRefusal } from "../testing.ts";

const path = "v1/replicationcontrollers";
const template: JsonObject = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const minimal: JsonObject = { spec: { template } };
const rich: JsonObject = { spec: { replicas: 0, minReadySeconds: 1, selector: { app: "a" }, template } };
const negative = "must be greater than or equal to 0";

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ReplicationController with %s is accepted", async (_, controller) => {
  expect(await refusal(path, controller)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["spec.replicas", -1, `spec.replicas: Invalid value: -1: ${negative}`],
  ["spec.minReadySeconds", -1, `spec.minReadySeconds: Invalid value: -1: ${negative}`],
  [
    "spec.selector",
    { app: "b" },
    'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
  ],
  ["spec.template", undefined, "spec.template: Required value"],
  [
    "spec.template.spec.restartPolicy",
    "Never",
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
  ["spec.template.spec.containers", [], "spec.template.spec.containers: Required value"],
])("a ReplicationController with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test("without labels in its template it selects nothing", async () => {
  expect(await refusal(path, changed(minimal, "spec.template.metadata", undefined))).toEqual([
    "spec.selector: Required value",
  ]);
});

test("it selects the pods of its template, and has the labels of the template", async () => {
  expect(await created(path, minimal)).toMatchObject({
    metadata: { labels: { app: "a" } },
    spec: { replicas: 1, selector: { app: "a" } },
  });
});

test("the status has a path of its own", async () => {
  const status: JsonObject = { replicas: 1, readyReplicas: 1 };
  expect(await updated(path, minimal, { ...rich, status }, "status")).toMatchObject({ spec: { replicas: 1 }, status });
  expect((await updated(path, minimal, { ...rich, status }))["status"]).toEqual({ replicas: 0 });
  expect(await updateRefusal(path, minimal, { status: { replicas: 0, readyReplicas: 1 } }, "status")).toEqual([
    "status.readyReplicas: Invalid value: 1: cannot be greater than status.replicas",
  ]);
});
