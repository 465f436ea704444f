import { expect, test } from "bun:test";
import type { ManagedFieldsEntry } from "../api/object-meta.ts";
import { stringifyJson } from "../api/codec/json.ts";
import { managedFieldsText } from "./managed-fields-text.ts";

const fieldsV1 = { "f:metadata": { "f:labels": { ".": {}, "f:<a>": {} } }, "f:spec": { 'k:{"name":"a"}': {} } };

test.each<[readonly ManagedFieldsEntry[]]>([
  [[]],
  [[{ manager: "a", operation: "Apply", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1 }]],
  [
    [
      { manager: 'a"b', operation: "Update", apiVersion: "v1", fieldsV1, subresource: "status" },
      { manager: "b", operation: "Update" },
    ],
  ],
])("managedFieldsText(%j) is their JSON", (entries) => {
  const json = stringifyJson(entries as never);
  expect(managedFieldsText(entries)).toBe(json);
  expect(managedFieldsText(entries)).toBe(json);
});
