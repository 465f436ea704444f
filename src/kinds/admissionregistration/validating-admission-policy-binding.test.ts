import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
const minimal: JsonObject = { spec: { policyName: "p", validationActions: ["Deny"] } };
const rich: JsonObject = {
  spec: {
    policyName: "p",
    validationActions: ["Warn", "Audit"],
    paramRef: { name: "x", namespace: "n", parameterNotFoundAction: "Allow" },
    matchResources: { namespaceSelector: { matchLabels: { a: "b" } } },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ValidatingAdmissionPolicyBinding with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.policyName", "", ["spec.policyName: Required value"]],
  [
    "spec.policyName",
    "A!",
    [
      "spec.policyName: Invalid value: \"A!\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.validationActions",
    [],
    ["spec.validationActions: Required value: at least one validation action is required"],
  ],
  [
    "spec.validationActions",
    ["Deny", "Warn"],
    [
      'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
    ],
  ],
  ["spec.validationActions", ["Warn", "Warn"], ['spec.validationActions[1]: Duplicate value: "Warn"']],
  [
    "spec.validationActions",
    ["Shout"],
    ['spec.validationActions[0]: Unsupported value: "Shout": supported values: "Audit", "Deny", "Warn"'],
  ],
  [
    "spec.paramRef",
    { parameterNotFoundAction: "Deny" },
    ["spec.paramRef: Required value: one of name or selector must be specified"],
  ],
  [
    "spec.paramRef.selector",
    { matchLabels: { a: "b" } },
    [
      "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
      "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
    ],
  ],
  [
    "spec.paramRef.parameterNotFoundAction",
    "Ask",
    ['spec.paramRef.parameterNotFoundAction: Unsupported value: "Ask": supported values: "Deny", "Allow"'],
  ],
  ["spec.paramRef.parameterNotFoundAction", undefined, ["spec.paramRef.parameterNotFoundAction: Required value"]],
  [
    "spec.matchResources.namespaceSelector",
    { matchLabels: { "a b": "c" } },
    [
      "spec.matchResources.namespaceSelector.matchLabels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
])("a ValidatingAdmissionPolicyBinding with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
