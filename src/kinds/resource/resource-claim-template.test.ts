import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";

const path = "resource.k8s.io/v1/resourceclaimtemplates";
const minimal: JsonObject = { spec: { spec: {} } };
const rich: JsonObject = {
  spec: {
    metadata: { labels: { a: "b" } },
    spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu" } }] } },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ResourceClaimTemplate with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.spec.devices.requests[0].exactly.selectors",
    [{ cel: { expression: "device.driver" } }],
    [
      'spec.spec.devices.requests[0].exactly.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the unknown type, not string',
    ],
  ],
  [
    "spec.spec.devices.requests[0].name",
    "A",
    [
      "spec.spec.devices.requests[0].name: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "spec.spec.devices.requests[0].exactly",
    undefined,
    ["spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is required"],
  ],
  [
    "spec.metadata.labels",
    { "a b": "c" },
    [
      "spec.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  ["spec.metadata.name", "a", ["spec.metadata.name: Forbidden: cannot be set"]],
  ["spec.metadata.finalizers", [], ["spec.metadata.finalizers: Forbidden: cannot be set"]],
  [
    "spec.spec.devices.requests[1]",
    { name: "gpu", exactly: { deviceClassName: "x" } },
    ['spec.spec.devices.requests[1]: Duplicate value: "gpu"'],
  ],
  [
    "spec.spec.devices.requests[0].exactly.deviceClassName",
    "",
    ["spec.spec.devices.requests[0].exactly.deviceClassName: Required value"],
  ],
])("a ResourceClaimTemplate with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.spec.devices.requests[0].name",
    "tpu",
    [
      'spec: Invalid value: {"labels":{"a":"b"},"Spec":{"Devices":{"Requests":[{"Name":"tpu","Exactly":{"DeviceClassName":"gpu","Selectors":null,"AllocationMode":"ExactCount","Count":1,"AdminAccess":null,"Tolerations":null,"Capacity":null},"FirstAvailable":null}],"Constraints":null,"Config":null}}}: field is immutable',
    ],
  ],
])("an update that makes %s = %j gets the expected answer", async (field, value, causes) => {
  expect(await updateRefusal(path, rich, changed(rich, field, value))).toEqual(causes);
});
