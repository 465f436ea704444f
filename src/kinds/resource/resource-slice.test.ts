import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import type { ResourceSlice } from "../../api/types/resource-v1.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";
import { driverWarnings } from "./resource-slice.ts";

const path = "resource.k8s.io/v1/resourceslices";
const minimal: JsonObject = {
  spec: {
    driver: "gpu.example.com",
    nodeName: "node-1",
    pool: { name: "node-1", generation: 1, resourceSliceCount: 1 },
  },
};
const rich: JsonObject = {
  spec: {
    driver: "gpu.example.com",
    nodeName: "node-1",
    pool: { name: "node-1", generation: 1, resourceSliceCount: 1 },
    devices: [
      {
        name: "gpu-0",
        attributes: { model: { string: "x" }, "example.com/cores": { int: 8 }, driverVersion: { version: "1.2.3" } },
        capacity: { memory: { value: "8Gi" } },
        taints: [{ key: "a", effect: "NoSchedule" }],
      },
    ],
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ResourceSlice with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.driver", "", ["spec.driver: Required value"]],
  [
    "spec.driver",
    "a b",
    [
      "spec.driver: Invalid value: \"a b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.nodeName",
    undefined,
    [
      "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
    ],
  ],
  [
    "spec.allNodes",
    true,
    [
      'spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but multiple fields are set',
    ],
  ],
  [
    "spec.nodeName",
    "A",
    [
      "spec.nodeName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  ["spec.pool.name", "", ["spec.pool.name: Required value"]],
  [
    "spec.pool.name",
    "A",
    [
      "spec.pool.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  ["spec.pool.generation", -1, ["spec.pool.generation: Invalid value: -1: must be greater than or equal to zero"]],
  ["spec.pool.resourceSliceCount", 0, ["spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero"]],
  [
    "spec.devices[0].name",
    "A",
    [
      "spec.devices[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ["spec.devices[1]", { name: "gpu-0" }, ['spec.devices[1]: Duplicate value: "gpu-0"']],
  [
    "spec.devices[0].attributes",
    { "a b": { int: 1 } },
    [
      "spec.devices[0].attributes: Invalid value: \"a b\": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
    ],
  ],
  [
    "spec.devices[0].attributes.model",
    {},
    ['spec.devices[0].attributes[model]: Invalid value: "": exactly one value must be specified'],
  ],
  [
    "spec.devices[0].attributes.model.int",
    3,
    [
      'spec.devices[0].attributes[model]: Invalid value: {"IntValue":3,"BoolValue":null,"StringValue":"x","VersionValue":null,"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly one value must be specified',
    ],
  ],
  [
    "spec.devices[0].attributes.driverVersion.version",
    "one",
    [
      'spec.devices[0].attributes[driverVersion].version: Invalid value: "one": must be a string compatible with semver.org spec 2.0.0',
    ],
  ],
  [
    "spec.devices[0].attributes.model.string",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    ["spec.devices[0].attributes[model].string: Too long: may not be more than 64 bytes"],
  ],
  [
    "spec.devices[0].capacity",
    { "a b": { value: "1" } },
    [
      "spec.devices[0].capacity: Invalid value: \"a b\": a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')",
    ],
  ],
  [
    "spec.devices[0].taints[0].effect",
    "Shrug",
    [
      'spec.devices[0].taints[0].effect: Unsupported value: "Shrug": supported values: "NoExecute", "NoSchedule", "None"',
    ],
  ],
  [
    "spec.devices[0].taints[0].key",
    "",
    [
      'spec.devices[0].taints[0].key: Invalid value: "": name part must be non-empty',
      "spec.devices[0].taints[0].key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
])("a ResourceSlice with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test("a large number keeps its digits in the answer", async () => {
  const large = changed(rich, "spec.devices[0].attributes.model.int", 9_223_372_036_854_775_807n);
  const [cause] = await refusal(path, large);
  expect(cause).toContain('{"IntValue":9223372036854775807,');
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.driver", "other.example.com", ['spec.driver: Invalid value: "other.example.com": field is immutable']],
  ["spec.nodeName", "node-2", ['spec.nodeName: Invalid value: "node-2": field is immutable']],
  ["spec.pool.name", "other", ['spec.pool.name: Invalid value: "other": field is immutable']],
  ["spec.pool.generation", 2, []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("a driver's name in upper case is warned of where it is accepted at all", () => {
  const { spec } = minimal as { spec: ResourceSlice["spec"] };
  expect(driverWarnings({ spec: { ...spec, driver: "GPU.example.com" } })).toEqual([
    'spec.driver: driver names should be lowercase; "GPU.example.com" contains uppercase characters',
  ]);
  expect(driverWarnings({ spec })).toEqual([]);
});
