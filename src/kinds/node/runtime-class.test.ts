import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "node.k8s.io/v1/runtimeclasses";
const minimal: JsonObject = { handler: "runc" };
const rich: JsonObject = {
  handler: "kata",
  overhead: { podFixed: { cpu: "10m", memory: "64Mi" } },
  scheduling: { nodeSelector: { kata: "yes" }, tolerations: [{ key: "kata", operator: "Exists" }] },
};
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

test.each([
  ["little", minimal],
  ["everything", rich],
])("a RuntimeClass with %s is accepted", async (_, runtimeClass) => {
  expect(await refusal(path, runtimeClass)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["handler", undefined, "handler: Required value"],
  ["handler", "Kata", `handler: Invalid value: "Kata": ${label}`],
  ["overhead.podFixed.cpu", "-1", 'overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
  [
    "overhead.podFixed",
    { disk: 1 },
    'overhead.limits[disk]: Invalid value: "disk": must be a standard resource type or fully qualified',
    'overhead.limits[disk]: Invalid value: "disk": must be a standard resource for containers',
  ],
  [
    "scheduling.nodeSelector",
    { kata: "a b" },
    "scheduling.nodeSelector: Invalid value: \"a b\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
  ],
  [
    "scheduling.tolerations[0].effect",
    "Never",
    'scheduling.tolerations[0].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
  ],
])("a RuntimeClass with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["overhead", undefined],
  ["scheduling.nodeSelector", {}],
  ["handler", "runc", 'handler: Invalid value: "runc": field is immutable'],
])("an update that makes %s = %j gets the expected answer", async (field, value, ...causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("tolerations that differ in their seconds only are refused, and so are operators that compare", async () => {
  const tolerations = [
    { operator: "Exists", effect: "NoExecute" },
    { operator: "Exists", effect: "NoExecute", tolerationSeconds: 1 },
  ];
  expect(await refusal(path, changed(minimal, "scheduling", { tolerations }))).toEqual([
    'scheduling.tolerations[1]: Duplicate value: {"Key":"","Operator":"Exists","Value":"","Effect":"NoExecute","TolerationSeconds":1}',
  ]);
  expect(
    await refusal(path, changed(minimal, "scheduling", { tolerations: [{ key: "a", operator: "Gt", value: "1" }] })),
  ).toEqual([
    'scheduling.tolerations[0].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"',
  ]);
});
