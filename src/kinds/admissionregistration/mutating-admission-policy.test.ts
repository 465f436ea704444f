import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "admissionregistration.k8s.io/v1/mutatingadmissionpolicies";
const minimal: JsonObject = {
  spec: {
    reinvocationPolicy: "Never",
    matchConstraints: {
      resourceRules: [{ operations: ["CREATE"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"] }],
    },
    mutations: [{ patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } }],
  },
};
const rich: JsonObject = {
  spec: {
    failurePolicy: "Fail",
    reinvocationPolicy: "IfNeeded",
    paramKind: { apiVersion: "v1", kind: "ConfigMap" },
    matchConstraints: {
      resourceRules: [
        { operations: ["CREATE", "UPDATE"], apiGroups: ["apps"], apiVersions: ["v1"], resources: ["deployments"] },
      ],
    },
    variables: [{ name: "x", expression: "1" }],
    matchConditions: [{ name: "c", expression: "true" }],
    mutations: [
      { patchType: "JSONPatch", jsonPatch: { expression: "[JSONPatch{}]" } },
      { patchType: "ApplyConfiguration", applyConfiguration: { expression: "Object{}" } },
    ],
  },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a MutatingAdmissionPolicy with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["spec.mutations", [], ["spec.mutations: Required value: mutations must contain at least one item"]],
  [
    "spec.mutations[0].patchType",
    "Magic",
    ['spec.mutations[0].patchType: Unsupported value: "Magic": supported values: "ApplyConfiguration", "JSONPatch"'],
  ],
  [
    "spec.mutations[0].patchType",
    "ApplyConfiguration",
    [
      "spec.mutations[0].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration",
      'spec.mutations[0].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
    ],
  ],
  ["spec.mutations[0].jsonPatch.expression", "", ["spec.mutations[0].jsonPatch.expression: Required value"]],
  [
    "spec.mutations[1].jsonPatch",
    { expression: "[JSONPatch{}]" },
    [
      'spec.mutations[1].jsonPatch: Invalid value: "{jsonPatch}": must not be specified when patchType is ApplyConfiguration',
    ],
  ],
  [
    "spec.mutations[1].applyConfiguration",
    undefined,
    ["spec.mutations[1].applyConfiguration: Required value: must be specified when patchType is ApplyConfiguration"],
  ],
  [
    "spec.reinvocationPolicy",
    "Always",
    ['spec.reinvocationPolicy: Unsupported value: "Always": supported values: "IfNeeded", "Never"'],
  ],
  ["spec.reinvocationPolicy", undefined, ["spec.reinvocationPolicy: Required value"]],
  ["spec.matchConstraints", undefined, ["spec.matchConstraints: Required value"]],
  [
    "spec.matchConstraints.resourceRules[0].operations",
    ["DELETE"],
    [
      'spec.matchConstraints.resourceRules.operations: Unsupported value: "DELETE": supported values: "*", "CONNECT", "CREATE", "UPDATE"',
    ],
  ],
  ["spec.failurePolicy", "x", ['spec.failurePolicy: Unsupported value: "x": supported values: "Fail", "Ignore"']],
  ["spec.variables[0].name", "a-b", ['spec.variables[0].name: Invalid value: "a-b": must be a valid CEL identifier']],
])("a MutatingAdmissionPolicy with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
