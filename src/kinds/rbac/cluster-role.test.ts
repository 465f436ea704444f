import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "rbac.authorization.k8s.io/v1/clusterroles";
const minimal: JsonObject = { rules: [] };
const rich: JsonObject = {
  rules: [
    { verbs: ["*"], apiGroups: ["*"], resources: ["*"] },
    { verbs: ["get"], nonResourceURLs: ["/healthz", "/metrics/*"] },
  ],
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] },
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a ClusterRole with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["metadata.name", "a%b", ["metadata.name: Invalid value: \"a%b\": may not contain '%'"]],
  ["rules[0].verbs", [], ["rules[0].verbs: Required value: verbs must contain at least one value"]],
  [
    "rules[1].resources",
    ["pods"],
    [
      'rules[1].nonResourceURLs: Invalid value: ["/healthz","/metrics/*"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
  [
    "rules[1].apiGroups",
    ["apps"],
    [
      'rules[1].nonResourceURLs: Invalid value: ["/healthz","/metrics/*"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
  ["rules[0].resources", [], ["rules[0].resources: Required value: resource rules must supply at least one resource"]],
  [
    "aggregationRule.clusterRoleSelectors",
    [],
    [
      "aggregationRule.clusterRoleSelectors: Required value: at least one clusterRoleSelector required if aggregationRule is non-nil",
    ],
  ],
  [
    "aggregationRule.clusterRoleSelectors[0]",
    { matchExpressions: [{ key: "a", operator: "Has" }] },
    [
      'aggregationRule.clusterRoleSelectors[0].matchExpressions[0].operator: Invalid value: "Has": not a valid selector operator',
      "aggregationRule.clusterRoleSelectors[0]: Invalid value: null: invalid label selector.",
    ],
  ],
])("a ClusterRole with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
