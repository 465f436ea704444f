import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal, updateRefusal } from "../testing.ts";
import { flowSchemas } from "./flow-control-objects.ts";

const path = "flowcontrol.apiserver.k8s.io/v1/flowschemas";
const minimal: JsonObject = { spec: { priorityLevelConfiguration: { name: "p" } } };
const rich: JsonObject = {
  spec: {
    matchingPrecedence: 500,
    priorityLevelConfiguration: { name: "p" },
    distinguisherMethod: { type: "ByUser" },
    rules: [
      {
        subjects: [
          { kind: "User", user: { name: "jane" } },
          { kind: "Group", group: { name: "*" } },
          { kind: "ServiceAccount", serviceAccount: { name: "*", namespace: "n" } },
        ],
        resourceRules: [
          { verbs: ["get"], apiGroups: ["apps"], resources: ["deployments"], namespaces: ["*"], clusterScope: true },
        ],
        nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["/healthz/*"] }],
      },
    ],
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a FlowSchema with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.matchingPrecedence", 10001, ["spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"]],
  [
    "spec.matchingPrecedence",
    1,
    ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1"],
  ],
  ["spec.matchingPrecedence", -1, ["spec.matchingPrecedence: Invalid value: -1: must be a positive value"]],
  [
    "spec.priorityLevelConfiguration.name",
    "",
    ["spec.priorityLevelConfiguration.name: Required value: must reference a priority level"],
  ],
  [
    "spec.priorityLevelConfiguration.name",
    "P!",
    [
      "spec.priorityLevelConfiguration.name: Invalid value: \"P!\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.distinguisherMethod.type",
    "ByTaste",
    ['spec.distinguisherMethod.type: Unsupported value: {"Type":"ByTaste"}: supported values: "ByNamespace", "ByUser"'],
  ],
  ["spec.rules[0].subjects", [], ["spec.rules[0].subjects: Required value: subjects must contain at least one value"]],
  [
    "spec.rules[0].subjects[0]",
    { kind: "User" },
    ["spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'"],
  ],
  [
    "spec.rules[0].subjects[0].kind",
    "Robot",
    ['spec.rules[0].subjects[0].kind: Unsupported value: "Robot": supported values: "Group", "ServiceAccount", "User"'],
  ],
  [
    "spec.rules[0].subjects[0].group",
    { name: "x" },
    ["spec.rules[0].subjects[0].group: Forbidden: group is forbidden when subject kind is not 'Group'"],
  ],
  ["spec.rules[0].subjects[0].user.name", "", ["spec.rules[0].subjects[0].user.name: Required value"]],
  [
    "spec.rules[0].subjects[2].serviceAccount.namespace",
    "*",
    [
      "spec.rules[0].subjects[2].serviceAccount.namespace: Invalid value: \"*\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "spec.rules[0].subjects[2].serviceAccount.name",
    "A",
    [
      "spec.rules[0].subjects[2].serviceAccount.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    ],
  ],
  [
    "spec.rules[0].resourceRules[0].verbs",
    ["fly"],
    [
      'spec.rules[0].resourceRules[0].verbs: Unsupported value: ["fly"]: supported values: "create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"',
    ],
  ],
  [
    "spec.rules[0].resourceRules[0].verbs",
    ["get", "*"],
    [
      'spec.rules[0].resourceRules[0].verbs: Invalid value: ["get","*"]: if \'*\' is present, must not specify other verbs',
    ],
  ],
  [
    "spec.rules[0].resourceRules[0].verbs",
    [],
    ["spec.rules[0].resourceRules[0].verbs: Required value: verbs must contain at least one value"],
  ],
  [
    "spec.rules[0].resourceRules[0].apiGroups",
    [],
    ["spec.rules[0].resourceRules[0].apiGroups: Required value: resource rules must supply at least one api group"],
  ],
  [
    "spec.rules[0].resourceRules[0].resources",
    ["a", "*"],
    [
      'spec.rules[0].resourceRules[0].resources: Invalid value: ["a","*"]: if \'*\' is present, must not specify other resources',
    ],
  ],
  [
    "spec.rules[0].resourceRules[0].namespaces",
    ["N"],
    [
      "spec.rules[0].resourceRules[0].namespaces[0]: Invalid value: \"N\": each member of this list must be '*' or a DNS-1123 label; a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  [
    "spec.rules[0].resourceRules[0]",
    { verbs: ["get"], apiGroups: ["*"], resources: ["*"] },
    [
      "spec.rules[0].resourceRules[0].namespaces: Required value: resource rules that are not cluster scoped must supply at least one namespace",
    ],
  ],
  [
    "spec.rules[0].nonResourceRules[0].nonResourceURLs",
    ["healthz"],
    ['spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "healthz": must start with slash'],
  ],
  [
    "spec.rules[0].nonResourceRules[0].nonResourceURLs",
    ["/a/*/b"],
    [
      'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "/a/*/b": wildcard can only do suffix matching',
    ],
  ],
  [
    "spec.rules[0].nonResourceRules[0].nonResourceURLs",
    [],
    [
      "spec.rules[0].nonResourceRules[0].nonResourceURLs: Required value: nonResourceURLs must contain at least one value",
    ],
  ],
  [
    "spec.rules[0]",
    { subjects: [{ kind: "Group", group: { name: "x" } }] },
    ["spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty"],
  ],
])("a FlowSchema with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test.each(flowSchemas.map(({ object }) => [object.metadata.name, object]))(
  "the schema %s that exists from the start is accepted",
  async (_, object) => {
    expect(await refusal(path, object as unknown as JsonObject)).toEqual([]);
  },
);

test("schemas that the server cannot do without do not change", async () => {
  const exempt = flowSchemas[0]?.object as unknown as JsonObject;
  const causes = await updateRefusal(
    path,
    exempt,
    changed(exempt, "spec.rules[0].subjects[0].group.name", "everybody"),
  );
  expect(causes.length).toBe(1);
  expect(causes[0]).toEndWith("spec of 'exempt' must equal the fixed value");
});
