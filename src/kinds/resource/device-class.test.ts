import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "resource.k8s.io/v1/deviceclasses";
const minimal: JsonObject = { spec: {} };
const rich: JsonObject = {
  spec: {
    selectors: [{ cel: { expression: "true" } }],
    config: [{ opaque: { driver: "gpu.example.com", parameters: { a: 1 } } }],
    extendedResourceName: "example.com/gpu",
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a DeviceClass with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "metadata.name",
    "A",
    [
      "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  ["spec.selectors[0]", {}, ["spec.selectors[0].cel: Required value"]],
  [
    "spec.selectors[0].cel.expression",
    "",
    [
      "spec.selectors[0].cel.expression: Invalid value: \"\": compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}",
    ],
  ],
  ["spec.config[0]", {}, ["spec.config[0].opaque: Required value"]],
  ["spec.config[0].opaque.driver", "", ["spec.config[0].opaque.driver: Required value"]],
  [
    "spec.config[0].opaque.driver",
    "a b",
    [
      "spec.config[0].opaque.driver: Invalid value: \"a b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  ["spec.config[0].opaque.parameters", undefined, ["spec.config[0].opaque.parameters: Required value"]],
  [
    "spec.extendedResourceName",
    "cpu",
    ['spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name'],
  ],
  [
    "spec.config[0].opaque.driver",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ["spec.config[0].opaque.driver: Too long: may not be more than 63 bytes"],
  ],
])("a DeviceClass with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
