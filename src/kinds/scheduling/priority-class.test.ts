import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, created, refusal, updateRefusal } from "../testing.ts";

const path = "scheduling.k8s.io/v1/priorityclasses";
const minimal: JsonObject = { value: 0 };
const rich: JsonObject = {
  value: 1_000_000_000,
  globalDefault: true,
  description: "first of all",
  preemptionPolicy: "Never",
};
const reserved =
  "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";

test.each([
  ["little", minimal],
  ["everything", rich],
  ["the system's name and value", { metadata: { name: "system-node-critical" }, value: 2_000_001_000 }],
])("a PriorityClass with %s is accepted", async (_, priorityClass) => {
  expect(await refusal(path, priorityClass)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["value", 1_000_000_001, "value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
  ["metadata.name", "system-a", `${reserved}system-a is not a known system priority class`],
  [
    "metadata.name",
    "system-cluster-critical",
    `${reserved}value of system-cluster-critical PriorityClass must be 2000000000`,
  ],
  [
    "preemptionPolicy",
    "Always",
    'preemptionPolicy: Unsupported value: "Always": supported values: "PreemptLowerPriority", "Never"',
  ],
  [
    "metadata.name",
    "A",
    "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
  ],
])("a PriorityClass with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue, ...causes: string[]]>([
  ["description", "second"],
  ["globalDefault", false],
  ["value", 1, "value: Forbidden: may not be changed in an update."],
  [
    "preemptionPolicy",
    "PreemptLowerPriority",
    'preemptionPolicy: Invalid value: "PreemptLowerPriority": field is immutable',
  ],
])("an update that makes %s = %j gets the expected answer", async (field, value, ...causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("it preempts by default", async () => {
  expect(await created(path, minimal)).toMatchObject({
    metadata: { generation: 1 },
    preemptionPolicy: "PreemptLowerPriority",
  });
});
