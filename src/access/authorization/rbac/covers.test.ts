import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkedPermissionsMax, missingPermissions, permissionTexts, TooManyPermissions } from "./covers.ts";
import type { PolicyRule } from "./policy-rule.ts";

const rule = (fields: Partial<PolicyRule>): PolicyRule => ({
  verbs: [],
  apiGroups: [],
  resources: [],
  resourceNames: [],
  nonResourceURLs: [],
  ...fields,
});

/** Checks in the simplest way that each single permission is within one of the held rules. */
function isCovered(held: readonly PolicyRule[], wanted: PolicyRule): boolean {
  const names = wanted.resourceNames.length === 0 ? [undefined] : wanted.resourceNames;
  return wanted.verbs.every((verb) => {
    const mayVerb = ({ verbs }: PolicyRule) => verbs.includes("*") || verbs.includes(verb);
    const resources = wanted.apiGroups.every((group) =>
      wanted.resources.every((resource) =>
        names.every((name) =>
          held.some((own) => {
            const slash = resource.indexOf("/");
            const bySubresource = slash !== -1 && own.resources.includes(`*/${resource.slice(slash + 1)}`);
            return (
              mayVerb(own) &&
              (own.apiGroups.includes("*") || own.apiGroups.includes(group)) &&
              (own.resources.includes("*") || own.resources.includes(resource) || bySubresource) &&
              (own.resourceNames.length === 0 || (name !== undefined && own.resourceNames.includes(name)))
            );
          }),
        ),
      ),
    );
    const urls = wanted.nonResourceURLs.every((url) =>
      held.some(
        (own) =>
          mayVerb(own) &&
          own.nonResourceURLs.some(
            (have) => have === url || (have.endsWith("*") && url.startsWith(have.replace(/\*+$/, ""))),
          ),
      ),
    );
    return resources && urls;
  });
}

const some = (...values: string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1, maxLength: 3 });
const onResources = fc.record({
  verbs: some("get", "list", "create", "*"),
  apiGroups: some("", "apps", "*"),
  resources: some("pods", "pods/log", "*/log", "*", "deployments/scale", "*/scale"),
  resourceNames: fc.oneof(fc.constant([]), some("a", "b", "")),
});
const onPaths = fc.record({
  verbs: some("get", "post", "*"),
  nonResourceURLs: some("/a", "/a/*", "/a/b", "*", "/b**"),
});
const anyRule = fc.oneof({ weight: 4, arbitrary: onResources }, { weight: 1, arbitrary: onPaths }).map(rule);

test("the result equals that of the literal check", () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 4 }), anyRule, (held, wanted) => {
      expect(missingPermissions(held, [wanted]).length === 0).toBe(isCovered(held, wanted));
    }),
    { numRuns: 5_000 },
  );
});

test("everyone holds their own permissions", () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 4 }), (rules) => expect(missingPermissions(rules, rules)).toEqual([])),
  );
});

describe("only wildcards cover wildcards", () => {
  test.each<[string, Partial<PolicyRule>, Partial<PolicyRule>]>([
    ["verbs", { verbs: ["get", "list", "watch"] }, { verbs: ["*"] }],
    ["groups", { apiGroups: ["", "apps"] }, { apiGroups: ["*"] }],
    ["resources", { resources: ["pods", "secrets", "pods/log"] }, { resources: ["*"] }],
    ["names", { resourceNames: ["a"] }, { resourceNames: [] }],
    ["subresources", { resources: ["pods/log"] }, { resources: ["*/log"] }],
  ])("%s", (_what, own, asked) => {
    const pods = { verbs: ["get"], apiGroups: [""], resources: ["pods"] };
    const held = [rule({ ...pods, ...own })];
    const wanted = [rule({ ...pods, ...asked })];
    expect(missingPermissions(held, wanted)).not.toEqual([]);
    expect(missingPermissions(wanted, held)).toEqual([]);
  });
});

test("a resource with a trailing slash is another one", () => {
  const pods = rule({ verbs: ["get"], apiGroups: [""], resources: ["pods"] });
  expect(missingPermissions([pods], [{ ...pods, resources: ["pods/"] }])).toHaveLength(1);
});

test("more permissions than the limit are rejected", () => {
  const words = Array.from({ length: 1_000 }, (_, at) => `x${at}`);
  const wide = rule({ verbs: words, apiGroups: [""], resources: words });
  expect(words.length * words.length).toBeGreaterThan(checkedPermissionsMax);
  expect(() => missingPermissions([], [wide])).toThrow(TooManyPermissions);
});

test("a message joins verbs on the same resource, but not paths", () => {
  const lacking = missingPermissions(
    [],
    [
      rule({ verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "secrets"], resourceNames: ["a"] }),
      rule({ verbs: ["get", "post"], nonResourceURLs: ["/x"] }),
    ],
  );
  expect(permissionTexts(lacking)).toEqual([
    '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}',
    '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get" "list"]}',
    '{NonResourceURLs:["/x"], Verbs:["get"]}',
    '{NonResourceURLs:["/x"], Verbs:["post"]}',
  ]);
});
