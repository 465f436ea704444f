import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const minimal: JsonObject = {
  spec: {
    matchConstraints: {
      resourceRules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }],
    },
    validations: [{ expression: "true" }],
  },
};
const rich: JsonObject = {
  spec: {
    failurePolicy: "Ignore",
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    matchConstraints: {
      matchPolicy: "Exact",
      resourceRules: [{ operations: ["CREATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] }],
      excludeResourceRules: [
        {
          resourceNames: ["x"],
          operations: ["CREATE"],
          apiGroups: ["apps"],
          apiVersions: ["v1"],
          resources: ["deployments"],
        },
      ],
    },
    variables: [{ name: "replicas", expression: "object.spec.replicas" }],
    matchConditions: [{ name: "c", expression: "true" }],
    validations: [{ expression: "object.spec.replicas < 5", message: "too many", reason: "Forbidden" }],
    auditAnnotations: [{ key: "count", valueExpression: "'x'" }],
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ValidatingAdmissionPolicy with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  [
    "spec.failurePolicy",
    "Retry",
    ['spec.failurePolicy: Unsupported value: "Retry": supported values: "Fail", "Ignore"'],
  ],
  ["spec.paramKind.apiVersion", "", ["spec.paramKind.apiVersion: Required value"]],
  [
    "spec.paramKind.apiVersion",
    "a/b/c",
    ['spec.paramKind.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
  ],
  ["spec.paramKind.kind", "", ["spec.paramKind.kind: Required value"]],
  [
    "spec.paramKind.kind",
    "A/B",
    [
      "spec.paramKind.kind: Invalid value: \"A/B\": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')",
    ],
  ],
  ["spec.matchConstraints", undefined, ["spec.matchConstraints: Required value"]],
  ["spec.matchConstraints.resourceRules", [], ["spec.matchConstraints.resourceRules: Required value"]],
  [
    "spec.matchConstraints.matchPolicy",
    "Near",
    ['spec.matchConstraints.matchPolicy: Unsupported value: "Near": supported values: "Equivalent", "Exact"'],
  ],
  [
    "spec.matchConstraints.resourceRules[0].resourceNames",
    ["a", "a"],
    ['spec.matchConstraints.resourceRules[0].resourceNames[1]: Duplicate value: "a"'],
  ],
  ["spec.variables[0].name", "a-b", ['spec.variables[0].name: Invalid value: "a-b": must be a valid CEL identifier']],
  ["spec.variables[0].name", "", ["spec.variables[0].name: Required value: name is not specified"]],
  ["spec.variables[0].expression", "", ["spec.variables[0].expression: Required value: expression is not specified"]],
  [
    "spec.matchConditions[0].name",
    "a b",
    [
      "spec.matchConditions[0].name: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "spec.validations[0].expression",
    " ",
    ["spec.validations[0].expression: Required value: expression is not specified"],
  ],
  [
    "spec.validations[0].message",
    "a\nb",
    ['spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks'],
  ],
  [
    "spec.validations[0].message",
    " ",
    ['spec.validations[0].message: Invalid value: " ": must be non-empty if specified'],
  ],
  [
    "spec.validations[0].reason",
    "Tired",
    [
      'spec.validations[0].reason: Unsupported value: "Tired": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
    ],
  ],
  [
    "spec.auditAnnotations[0].key",
    "a b",
    [
      "spec.auditAnnotations[0].key: Invalid value: \"a/a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
    ],
  ],
  [
    "spec.auditAnnotations[0].valueExpression",
    "",
    ["spec.auditAnnotations[0].valueExpression: Required value: valueExpression is not specified"],
  ],
  [
    "spec.auditAnnotations[1]",
    { key: "count", valueExpression: "'y'" },
    ['spec.auditAnnotations[1].key: Duplicate value: "count"'],
  ],
])("a ValidatingAdmissionPolicy with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});

test("long expressions are compiled over several turns", async () => {
  const expression = Array.from({ length: 50 }, (_, at) => `object.metadata.labels.exists(l, l == 'a${at}')`).join(
    " || ",
  );
  const validations = Array.from({ length: 100 }, () => ({ expression }));
  const turnsOf = async (object: JsonObject) => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    expect(await refusal(path, object)).toEqual([]);
    isDone = true;
    return turns;
  };
  const few = await turnsOf(minimal);
  expect(await turnsOf(changed(minimal, "spec.validations", validations))).toBeGreaterThan(few + 2);
});
