import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "storage.k8s.io/v1/csinodes";
const minimal: JsonObject = { spec: { drivers: [] } };
const rich: JsonObject = {
  spec: {
    drivers: [
      {
        name: "disk.example.com",
        nodeID: "i-1",
        topologyKeys: ["topology.example.com/zone"],
        allocatable: { count: 16 },
      },
    ],
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a CSINode with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.drivers[0].name", "", ["spec.drivers[0].name: Required value"]],
  [
    "spec.drivers[0].name",
    "a b",
    [
      "spec.drivers[0].name: Invalid value: \"a b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.drivers[0].name",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ["spec.drivers[0].name: Too long: may not be more than 63 bytes"],
  ],
  ["spec.drivers[0].nodeID", "", ["spec.drivers[0].nodeID: Required value"]],
  [
    "spec.drivers[0].nodeID",
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    [
      'spec.drivers[0].nodeID: Invalid value: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": must be 256 characters or less',
    ],
  ],
  ["spec.drivers[0].topologyKeys", ["a", "a"], ['spec.drivers[0]: Duplicate value: "a"']],
  [
    "spec.drivers[0].topologyKeys",
    [""],
    [
      "spec.drivers[0]: Required value",
      'spec.drivers[0]: Invalid value: "": name part must be non-empty',
      "spec.drivers[0]: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "spec.drivers[0].topologyKeys",
    ["a b"],
    [
      "spec.drivers[0]: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "spec.drivers[0].allocatable.count",
    -1,
    ["spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or equal to 0"],
  ],
  [
    "spec.drivers[1]",
    { name: "disk.example.com", nodeID: "i-1", topologyKeys: [] },
    ['spec.drivers[1].name: Duplicate value: "disk.example.com"'],
  ],
])("a CSINode with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.drivers[0].nodeID",
    "i-2",
    [
      'spec.drivers: Invalid value: {"Name":"disk.example.com","NodeID":"i-2","TopologyKeys":["topology.example.com/zone"],"Allocatable":null}: field is immutable',
    ],
  ],
  ["spec.drivers", [], []],
  ["spec.drivers[1]", { name: "b.example.com", nodeID: "i-1", topologyKeys: [] }, []],
  ["spec.drivers[0].allocatable.count", 3, []],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
