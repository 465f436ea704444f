import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "networking.k8s.io/v1/ingressclasses";
const minimal: JsonObject = { spec: { controller: "example.com/ingress" } };
const rich: JsonObject = {
  spec: {
    controller: "example.com/ingress",
    parameters: { apiGroup: "example.com", kind: "Settings", name: "x", scope: "Namespace", namespace: "n" },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("an IngressClass with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.controller", undefined, ["spec.controller: Required value"]],
  [
    "spec.controller",
    "ingress",
    ['spec.controller: Invalid value: "ingress": must be a domain-prefixed path (such as "acme.io/foo")'],
  ],
  [
    "spec.controller",
    "a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/",
    ["spec.controller: Too long: may not be more than 250 bytes"],
  ],
  ["spec.parameters.name", undefined, ["spec.parameters.name: Required value"]],
  ["spec.parameters.kind", "a/b", ["spec.parameters.kind: Invalid value: \"a/b\": may not contain '/'"]],
  [
    "spec.parameters.scope",
    "Zone",
    ['spec.parameters.scope: Unsupported value: "Zone": supported values: "Cluster", "Namespace"'],
  ],
  [
    "spec.parameters.namespace",
    undefined,
    ["spec.parameters.namespace: Required value: `parameters.scope` is set to 'Namespace'"],
  ],
  [
    "spec.parameters.scope",
    "Cluster",
    ["spec.parameters.namespace: Forbidden: `parameters.scope` is set to 'Cluster'"],
  ],
  [
    "spec.parameters.namespace",
    "A",
    [
      "spec.parameters.namespace: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
])("an IngressClass with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.controller", "example.com/other", ['spec.controller: Invalid value: "example.com/other": field is immutable']],
  ["spec.parameters.name", "y", []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
