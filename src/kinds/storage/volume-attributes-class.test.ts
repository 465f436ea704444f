import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "storage.k8s.io/v1/volumeattributesclasses";
const minimal: JsonObject = { driverName: "example.com", parameters: { iops: "1" } };
const rich: JsonObject = { driverName: "disk.example.com", parameters: { iops: "5000", throughput: "120" } };

test.each([
  ["little", minimal],
  ["everything", rich],
])("a VolumeAttributesClass with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["driverName", undefined, ["driverName: Required value"]],
  [
    "driverName",
    "a b",
    [
      "driverName: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  ["parameters", undefined, ["parameters: Required value: must contain at least one key/value pair"]],
  ["parameters", { "": "x" }, ['parameters: Invalid value: "": field can not be empty.']],
  ["parameters", {}, ["parameters: Required value: must contain at least one key/value pair"]],
])("a VolumeAttributesClass with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["driverName", "other.example.com", ["driverName: Forbidden: updates to driverName are forbidden."]],
  ["parameters.iops", "1", ["parameters: Forbidden: updates to parameters are forbidden."]],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
