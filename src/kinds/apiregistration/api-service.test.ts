import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "apiregistration.k8s.io/v1/apiservices";
const minimal: JsonObject = {
  metadata: { name: "v1.apps" },
  spec: { group: "apps", version: "v1", groupPriorityMinimum: 100, versionPriority: 10 },
};
const rich: JsonObject = {
  metadata: { name: "v1beta1.metrics.example.com" },
  spec: {
    group: "metrics.example.com",
    version: "v1beta1",
    groupPriorityMinimum: 100,
    versionPriority: 100,
    service: { name: "metrics", namespace: "n", port: 443 },
    insecureSkipTLSVerify: true,
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("an APIService with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "metadata.name",
    "other",
    ['metadata.name: Invalid value: "other": must be `spec.version+"."+spec.group`: "v1beta1.metrics.example.com"'],
  ],
  [
    "spec.group",
    "",
    [
      'metadata.name: Invalid value: "v1beta1.metrics.example.com": must be `spec.version+"."+spec.group`: "v1beta1."',
      "spec.group: Required value: only v1 may have an empty group and it better be legacy kube",
    ],
  ],
  [
    "spec.group",
    "Metrics",
    [
      'metadata.name: Invalid value: "v1beta1.metrics.example.com": must be `spec.version+"."+spec.group`: "v1beta1.Metrics"',
      "spec.group: Invalid value: \"Metrics\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.version",
    "",
    [
      'metadata.name: Invalid value: "v1beta1.metrics.example.com": must be `spec.version+"."+spec.group`: ".metrics.example.com"',
      "spec.version: Invalid value: \"\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "spec.version",
    "V1",
    [
      'metadata.name: Invalid value: "v1beta1.metrics.example.com": must be `spec.version+"."+spec.group`: "V1.metrics.example.com"',
      "spec.version: Invalid value: \"V1\": a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "spec.groupPriorityMinimum",
    0,
    ["spec.groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000"],
  ],
  [
    "spec.groupPriorityMinimum",
    20001,
    ["spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000"],
  ],
  ["spec.versionPriority", 0, ["spec.versionPriority: Invalid value: 0: must be positive and less than 1000"]],
  ["spec.versionPriority", 1001, ["spec.versionPriority: Invalid value: 1001: must be positive and less than 1000"]],
  ["spec.service.name", "", ["spec.service.name: Required value"]],
  ["spec.service.namespace", "", ["spec.service.namespace: Required value"]],
  [
    "spec.service.port",
    0,
    ["spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive"],
  ],
  [
    "spec.caBundle",
    "eA==",
    ["spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present"],
  ],
  [
    "spec.service",
    undefined,
    ["spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify"],
  ],
])("an APIService with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
