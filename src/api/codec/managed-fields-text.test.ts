import { expect, test } from "bun:test";
import type { JsonObject } from "../json.ts";
import type { ManagedFieldsEntry } from "../object-meta.ts";
import { stringifyJson } from "./json.ts";
import { managedFieldsText, stringifyObject } from "./managed-fields-text.ts";

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

test.each<[JsonObject]>([
  [{ kind: "Pod", metadata: { name: "a", managedFields: [{ operation: "Update", fieldsV1 }], labels: { "<b>": "" } } }],
  [{ metadata: { managedFields: [{ fieldsV1, subresource: "status" }, {}] }, spec: { number: 1 }, status: null }],
  [{ metadata: { managedFields: [null, 1, "a"] } }],
  [{ metadata: { managedFields: "a" } }],
  [{ metadata: null, managedFields: [{ fieldsV1 }] }],
  [{ metadata: { managedFields: [], name: undefined as never }, data: undefined as never }],
  [{ items: [] }],
])("stringifyObject(%j) is its JSON", (document) => {
  expect(stringifyObject(document)).toBe(stringifyJson(document));
});
