import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings";
const minimal: JsonObject = { spec: { policyName: "p" } };
const rich: JsonObject = {
  spec: {
    policyName: "p",
    paramRef: { selector: { matchLabels: { a: "b" } }, parameterNotFoundAction: "Deny" },
    matchResources: {
      objectSelector: { matchLabels: { a: "b" } },
      resourceRules: [{ operations: ["CREATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] }],
    },
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a MutatingAdmissionPolicyBinding with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.policyName", undefined, ["spec.policyName: Required value"]],
  [
    "spec.policyName",
    "P_",
    [
      "spec.policyName: Invalid value: \"P_\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.paramRef.name",
    "x",
    [
      "spec.paramRef.name: Forbidden: name and selector are mutually exclusive",
      "spec.paramRef.selector: Forbidden: name and selector are mutually exclusive",
    ],
  ],
  ["spec.paramRef.parameterNotFoundAction", undefined, ["spec.paramRef.parameterNotFoundAction: Required value"]],
  [
    "spec.matchResources.resourceRules[0].operations",
    [],
    ["spec.matchResources.resourceRules[0].operations: Required value"],
  ],
  [
    "spec.matchResources.matchPolicy",
    "Near",
    ['spec.matchResources.matchPolicy: Unsupported value: "Near": supported values: "Equivalent", "Exact"'],
  ],
])("a MutatingAdmissionPolicyBinding with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
