import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "resource.k8s.io/v1beta2/devicetaintrules";
const minimal: JsonObject = { spec: { taint: { key: "a", effect: "NoExecute" } } };
const rich: JsonObject = {
  spec: {
    deviceSelector: { driver: "gpu.example.com", pool: "node-1", device: "gpu-0" },
    taint: { key: "example.com/broken", value: "yes", effect: "NoSchedule" },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a DeviceTaintRule with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.taint.key",
    "",
    [
      'spec.taint.key: Invalid value: "": name part must be non-empty',
      "spec.taint.key: Invalid value: \"\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  ["spec.taint.effect", "", ["spec.taint.effect: Required value"]],
  [
    "spec.taint.effect",
    "Shrug",
    ['spec.taint.effect: Unsupported value: "Shrug": supported values: "NoExecute", "NoSchedule", "None"'],
  ],
  [
    "spec.taint.value",
    "a b",
    [
      "spec.taint.value: Invalid value: \"a b\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    ],
  ],
  [
    "spec.deviceSelector.driver",
    "a b",
    [
      "spec.deviceSelector.driver: Invalid value: \"a b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.deviceSelector.pool",
    "A",
    [
      "spec.deviceSelector.pool: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.deviceSelector.device",
    "A",
    [
      "spec.deviceSelector.device: Invalid value: \"A\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
])("a DeviceTaintRule with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
