import { expect, test } from "bun:test";
import { admissionRule, type RuleTarget, ruleMatches } from "./rule.ts";

const pods: RuleTarget = {
  operation: "CREATE",
  group: "",
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace: "n",
};
const rule = (resources: string[], scope?: "*" | "Cluster" | "Namespaced") =>
  admissionRule({
    operations: ["CREATE"],
    apiGroups: [""],
    apiVersions: ["*"],
    resources,
    ...(scope === undefined ? {} : { scope }),
  });

test.each<[resources: string[], subresource: string, matches: boolean]>([
  [["pods"], "", true],
  [["pods"], "status", false],
  [["pods/*"], "", true],
  [["pods/*"], "status", true],
  [["*"], "", true],
  [["*"], "status", false],
  [["*/status"], "status", true],
  [["*/status"], "", false],
  [["*/*"], "status", true],
  [["*/*"], "", true],
  [["nodes", "pods/status"], "status", true],
])("a rule for %j, and a request for pods/%s", (resources, subresource, matches) => {
  expect(ruleMatches(rule(resources), { ...pods, subresource })).toBe(matches);
});

test("operation, group and version have to match too", () => {
  expect(ruleMatches(rule(["pods"]), { ...pods, operation: "UPDATE" })).toBe(false);
  expect(ruleMatches(rule(["pods"]), { ...pods, group: "apps" })).toBe(false);
  expect(ruleMatches(rule(["pods"]), { ...pods, version: "v2" })).toBe(true);
});

test("a Namespace counts as cluster-scoped, although its requests have a namespace", () => {
  const namespaces = { ...pods, resource: "namespaces" };
  expect(ruleMatches(rule(["*"], "Namespaced"), namespaces)).toBe(false);
  expect(ruleMatches(rule(["*"], "Cluster"), namespaces)).toBe(true);
  expect(ruleMatches(rule(["*"], "Namespaced"), pods)).toBe(true);
  expect(ruleMatches(rule(["*"], "Cluster"), { ...pods, namespace: "" })).toBe(true);
});
