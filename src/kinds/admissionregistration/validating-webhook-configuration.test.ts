import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updated } from "../testing.ts";

const path = "admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const minimal: JsonObject = {};
const rich: JsonObject = {
  webhooks: [
    {
      name: "a.example.com",
      clientConfig: { service: { name: "s", namespace: "n", path: "/check", port: 8443 }, caBundle: "" },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
      timeoutSeconds: 5,
      failurePolicy: "Ignore",
      matchPolicy: "Exact",
      rules: [
        {
          operations: ["CREATE", "UPDATE"],
          apiGroups: ["*"],
          apiVersions: ["v1"],
          resources: ["pods/*"],
          scope: "Namespaced",
        },
      ],
      namespaceSelector: { matchLabels: { a: "b" } },
      matchConditions: [{ name: "x", expression: "true" }],
    },
  ],
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ValidatingWebhookConfiguration with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["webhooks[0].name", "", ["webhooks[0].name: Required value"]],
  [
    "webhooks[0].name",
    "a",
    ['webhooks[0].name: Invalid value: "a": should be a domain with at least three segments separated by dots'],
  ],
  [
    "webhooks[0].clientConfig",
    {},
    ["webhooks[0].clientConfig: Required value: exactly one of url or service is required"],
  ],
  [
    "webhooks[0].clientConfig.url",
    "https://x",
    ["webhooks[0].clientConfig: Required value: exactly one of url or service is required"],
  ],
  [
    "webhooks[0].clientConfig",
    { url: "http://x/y" },
    [
      "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
    ],
  ],
  [
    "webhooks[0].clientConfig",
    { url: "https://u:p@x/y?z#f" },
    [
      'webhooks[0].clientConfig.url: Invalid value: "u:p": user information is not permitted in the URL',
      'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
      'webhooks[0].clientConfig.url: Invalid value: "z": query parameters are not permitted in the URL',
    ],
  ],
  ["webhooks[0].clientConfig.service.name", "", ["webhooks[0].clientConfig.service.namespace: Required value"]],
  ["webhooks[0].clientConfig.service.namespace", "", ["webhooks[0].clientConfig.service.name: Required value"]],
  [
    "webhooks[0].clientConfig.service.path",
    "check",
    ["webhooks[0].clientConfig.service.path: Invalid value: \"check\": must start with a '/'"],
  ],
  [
    "webhooks[0].clientConfig.service.path",
    "/a//b",
    ['webhooks[0].clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty'],
  ],
  [
    "webhooks[0].clientConfig.service.port",
    0,
    [
      "webhooks[0].clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
    ],
  ],
  [
    "webhooks[0].sideEffects",
    undefined,
    ["webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"],
  ],
  [
    "webhooks[0].sideEffects",
    "Some",
    ['webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
  ],
  [
    "webhooks[0].admissionReviewVersions",
    [],
    ["webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"],
  ],
  [
    "webhooks[0].admissionReviewVersions",
    ["v2"],
    ['webhooks[0].admissionReviewVersions: Invalid value: ["v2"]: must include at least one of v1, v1beta1'],
  ],
  [
    "webhooks[0].admissionReviewVersions",
    ["v1", "v1"],
    ['webhooks[0].admissionReviewVersions[1]: Invalid value: "v1": duplicate version'],
  ],
  [
    "webhooks[0].timeoutSeconds",
    0,
    ["webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 seconds"],
  ],
  [
    "webhooks[0].timeoutSeconds",
    31,
    ["webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds"],
  ],
  [
    "webhooks[0].failurePolicy",
    "Retry",
    ['webhooks[0].failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"'],
  ],
  [
    "webhooks[0].matchPolicy",
    "Near",
    ['webhooks[0].matchPolicy: Unsupported value: "Near": supported values: "Equivalent", "Exact"'],
  ],
  ["webhooks[0].rules[0].operations", [], ["webhooks[0].rules[0].operations: Required value"]],
  [
    "webhooks[0].rules[0].operations",
    ["*", "CREATE"],
    [
      'webhooks[0].rules[0].operations: Invalid value: ["*","CREATE"]: if \'*\' is present, must not specify other operations',
    ],
  ],
  [
    "webhooks[0].rules[0].operations",
    ["READ"],
    [
      'webhooks[0].rules[0].operations[0]: Unsupported value: "READ": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
    ],
  ],
  [
    "webhooks[0].rules[0].apiGroups",
    ["*", "a"],
    [
      'webhooks[0].rules[0].apiGroups: Invalid value: ["*","a"]: if \'*\' is present, must not specify other API groups',
    ],
  ],
  ["webhooks[0].rules[0].apiVersions", [""], ["webhooks[0].rules[0].apiVersions[0]: Required value"]],
  [
    "webhooks[0].rules[0].resources",
    ["*", "pods"],
    [
      'webhooks[0].rules[0].resources: Invalid value: ["*","pods"]: if \'*\' is present, must not specify other resources without subresources',
    ],
  ],
  [
    "webhooks[0].rules[0].resources",
    ["pods/*", "pods/status"],
    [
      "webhooks[0].rules[0].resources[1]: Invalid value: \"pods/status\": if 'pods/*' is present, must not specify pods/status",
    ],
  ],
  [
    "webhooks[0].rules[0].scope",
    "Galaxy",
    ['webhooks[0].rules[0].scope: Unsupported value: "Galaxy": supported values: "*", "Cluster", "Namespaced"'],
  ],
  [
    "webhooks[0].namespaceSelector",
    { matchLabels: { "a b": "c" } },
    [
      "webhooks[0].namespaceSelector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  ["webhooks[0].matchConditions[0].name", "", ["webhooks[0].matchConditions[0].name: Required value"]],
  ["webhooks[0].matchConditions[0].expression", " ", ["webhooks[0].matchConditions[0].expression: Required value"]],
  [
    "webhooks[0].matchConditions[1]",
    { name: "x", expression: "true" },
    ['webhooks[0].matchConditions[1].name: Duplicate value: "x"'],
  ],
  [
    "webhooks[1]",
    {
      name: "a.example.com",
      clientConfig: { url: "https://x/y" },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    },
    ['webhooks[1].name: Duplicate value: "a.example.com"'],
  ],
])("a ValidatingWebhookConfiguration with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test("the generation counts an empty list of a webhook", async () => {
  const bare = changed(rich, "webhooks[0].matchConditions", undefined);
  const emptied = changed(rich, "webhooks[0].matchConditions", []);
  expect((await updated(path, bare, bare)).metadata.generation).toBe(1);
  expect((await updated(path, bare, emptied)).metadata.generation).toBe(2);
});
