import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "apps/v1/controllerrevisions";
const minimal: JsonObject = { revision: 0, data: { kind: "Anything" } };
const rich: JsonObject = { metadata: { labels: { app: "a" } }, revision: 7, data: { spec: { a: [1, null, "x"] } } };

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ControllerRevision with %s is accepted", async (_, revision) => {
  expect(await refusal(path, revision)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, ...causes: string[]]>([
  ["revision", -1, "revision: Invalid value: -1: must be greater than or equal to 0"],
  ["data", undefined, "data: Required value: data is mandatory"],
  ["data", "text", "data: Required value: data must be a valid JSON object"],
  ["data", [1], "data: Required value: data must be a valid JSON object"],
  [
    "metadata.labels",
    { "a b": "c" },
    "metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
  ],
])("a ControllerRevision with %s = %j is refused", async (field, value, ...causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue, ...causes: string[]]>([
  ["revision", 8],
  ["metadata.labels", {}],
  ["data", { spec: {} }, 'data: Invalid value: {"spec":{}}: field is immutable'],
])("an update that makes %s = %j gets the expected answer", async (field, value, ...causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
