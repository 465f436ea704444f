import { expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "../../api/json.ts";
import { changed, refusal } from "../testing.ts";

const path = "rbac.authorization.k8s.io/v1/roles";
const minimal: JsonObject = { rules: [] };
const rich: JsonObject = {
  metadata: { name: "system:a" },
  rules: [{ verbs: ["get"], apiGroups: ["", "apps"], resources: ["pods", "deployments/scale"], resourceNames: ["x"] }],
};

test.each([
  ["little", minimal],
  ["everything", rich],
])("a Role with %s is accepted", async (_, object) => {
  expect(await refusal(path, object)).toEqual([]);
});

test.each<[field: string, value: JsonValue | undefined, causes: string[]]>([
  ["metadata.name", "a/b", ["metadata.name: Invalid value: \"a/b\": may not contain '/'"]],
  ["rules[0].verbs", [], ["rules[0].verbs: Required value: verbs must contain at least one value"]],
  ["rules[0].apiGroups", [], ["rules[0].apiGroups: Required value: resource rules must supply at least one api group"]],
  ["rules[0].resources", [], ["rules[0].resources: Required value: resource rules must supply at least one resource"]],
  [
    "rules[0].nonResourceURLs",
    ["/healthz"],
    [
      'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs',
      'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular resources and non-resource URLs',
    ],
  ],
  [
    "rules[0]",
    { verbs: ["get"], nonResourceURLs: ["/x"] },
    ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
  ],
])("a Role with %s = %j is refused", async (field, value, causes) => {
  expect(await refusal(path, changed(rich, field, value))).toEqual(causes);
});
