import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "resource.k8s.io/v1/resourceclaims";
const minimal: JsonObject = { spec: {} };
const rich: JsonObject = {
  spec: {
    devices: {
      requests: [
        {
          name: "gpu",
          exactly: {
            deviceClassName: "gpu",
            allocationMode: "ExactCount",
            count: 2,
            selectors: [{ cel: { expression: "true" } }],
            tolerations: [{ key: "a", operator: "Exists" }],
          },
        },
        {
          name: "any",
          firstAvailable: [
            { name: "big", deviceClassName: "big" },
            { name: "small", deviceClassName: "small" },
          ],
        },
      ],
      constraints: [{ requests: ["gpu"], matchAttribute: "gpu.example.com/model" }],
      config: [{ requests: ["any/big"], opaque: { driver: "gpu.example.com", parameters: { x: true } } }],
    },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ResourceClaim with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.devices.requests[1].firstAvailable[0].selectors",
    [{ cel: { expression: "device.driver" } }],
    [
      'spec.devices.requests[1].firstAvailable[0].selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string',
    ],
  ],
  [
    "spec.devices.requests[0].exactly.selectors",
    [{ cel: { expression: "device.driver" } }],
    [
      'spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string',
    ],
  ],
  [
    "spec.devices.requests[0].name",
    "",
    [
      "spec.devices.requests[0].name: Invalid value: \"\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      "spec.devices.constraints[0].requests[0]: Invalid value: \"gpu\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
    ],
  ],
  [
    "spec.devices.requests[0].name",
    "A",
    [
      "spec.devices.requests[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
      "spec.devices.constraints[0].requests[0]: Invalid value: \"gpu\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
    ],
  ],
  [
    "spec.devices.requests[1].name",
    "gpu",
    [
      'spec.devices.requests[1]: Duplicate value: "gpu"',
      "spec.devices.config[0].requests[0]: Invalid value: \"any/big\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
    ],
  ],
  [
    "spec.devices.requests[0].exactly",
    undefined,
    ["spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"],
  ],
  [
    "spec.devices.requests[0].firstAvailable",
    [{ name: "x", deviceClassName: "x" }],
    [
      "spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set",
    ],
  ],
  [
    "spec.devices.requests[0].exactly.deviceClassName",
    "",
    ["spec.devices.requests[0].exactly.deviceClassName: Required value"],
  ],
  [
    "spec.devices.requests[0].exactly.deviceClassName",
    "A",
    [
      "spec.devices.requests[0].exactly.deviceClassName: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.devices.requests[0].exactly.allocationMode",
    "Some",
    [
      'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "All", "ExactCount"',
    ],
  ],
  [
    "spec.devices.requests[0].exactly.count",
    -1,
    ["spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than zero"],
  ],
  [
    "spec.devices.requests[0].exactly.allocationMode",
    "All",
    ["spec.devices.requests[0].exactly.count: Invalid value: 2: must not be specified when allocationMode is 'All'"],
  ],
  [
    "spec.devices.requests[0].exactly.selectors[0]",
    {},
    ["spec.devices.requests[0].exactly.selectors[0].cel: Required value"],
  ],
  [
    "spec.devices.requests[0].exactly.tolerations[0].operator",
    "Near",
    [
      'spec.devices.requests[0].exactly.tolerations[0].operator: Unsupported value: "Near": supported values: "Equal", "Exists"',
    ],
  ],
  [
    "spec.devices.requests[0].exactly.tolerations[0].value",
    "x",
    ['spec.devices.requests[0].exactly.tolerations[0].value: Invalid value: "x": must be empty for operator `Exists`'],
  ],
  [
    "spec.devices.constraints[0].requests",
    ["tpu"],
    [
      "spec.devices.constraints[0].requests[0]: Invalid value: \"tpu\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
    ],
  ],
  [
    "spec.devices.constraints[0].matchAttribute",
    undefined,
    [
      'spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set',
    ],
  ],
  [
    "spec.devices.constraints[0].matchAttribute",
    "model",
    [
      'spec.devices.constraints[0].matchAttribute: Invalid value: "model": a fully qualified name must be a domain and a name separated by a slash',
    ],
  ],
  [
    "spec.devices.config[0].requests",
    ["any/tiny"],
    [
      "spec.devices.config[0].requests[0]: Invalid value: \"any/tiny\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
    ],
  ],
  ["spec.devices.config[0].opaque", undefined, ["spec.devices.config[0].opaque: Required value"]],
])("a ResourceClaim with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.devices.requests[0].exactly.count",
    1,
    [
      'spec: Invalid value: {"Devices":{"Requests":[{"Name":"gpu","Exactly":{"DeviceClassName":"gpu","Selectors":[{"CEL":{"Expression":"true"}}],"AllocationMode":"ExactCount","Count":1,"AdminAccess":null,"Tolerations":[{"Key":"a","Operator":"Exists","Value":"","Effect":"","TolerationSeconds":null}],"Capacity":null},"FirstAvailable":null},{"Name":"any","Exactly":null,"FirstAvailable":[{"Name":"big","DeviceClassName":"big","Selectors":null,"AllocationMode":"ExactCount","Count":1,"Tolerations":null,"Capacity":null},{"Name":"small","DeviceClassName":"small","Selectors":null,"AllocationMode":"ExactCount","Count":1,"Tolerations":null,"Capacity":null}]}],"Constraints":[{"Requests":["gpu"],"MatchAttribute":"gpu.example.com/model","DistinctAttribute":null}],"Config":[{"Requests":["any/big"],"Opaque":{"Driver":"gpu.example.com","Parameters":{"x":true}}}]}}: field is immutable',
    ],
  ],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});

test("the status of a claim is validated by its own rules", async () => {
  const claim = changed(rich, "spec.devices.requests[0].exactly.selectors", []);
  const results = [{ request: "none", driver: "gpu.example.com", pool: "p", device: "d" }];
  const status = { allocation: { devices: { results } } };
  expect(await updateRefusal(path, claim, { ...claim, status }, "status")).toEqual([
    "status.allocation.devices.results[0].request: Invalid value: \"none\": must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
  ]);
});
