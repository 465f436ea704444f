import { describe, expect, test } from "bun:test";
import type { UserInfo } from "../../../request/user-info.ts";
import type { Attributes } from "../attributes.ts";
import { abacAuthorizer } from "./abac-authorizer.ts";
import { parseAbacPolicies } from "./abac-policy.ts";

const user = (name: string, ...groups: string[]): UserInfo => ({ name, uid: "", groups, extra: new Map() });
const policy = (spec: object) =>
  JSON.stringify({ apiVersion: "abac.authorization.kubernetes.io/v1beta1", kind: "Policy", spec });
const pods = (verb: string, namespace = "ns", group = ""): Attributes => ({
  kind: "resource",
  verb,
  group,
  version: "v1",
  resource: "pods",
  subresource: "",
  namespace,
  name: "",
});
const path = (text: string, verb = "get"): Attributes => ({ kind: "nonResource", verb, path: text });

const authorizer = abacAuthorizer(
  parseAbacPolicies(`
# a comment
${policy({ user: "alice", namespace: "ns", resource: "pods", apiGroup: "", readonly: true })}
${policy({ user: "all", namespace: "*", resource: "*", apiGroup: "*", nonResourcePath: "*" })}
${policy({ user: "all-core", namespace: "*", resource: "*", apiGroup: "" })}
${policy({ group: "team", namespace: "*", resource: "pods", apiGroup: "*" })}
${policy({ user: "*", nonResourcePath: "/version*" })}
${policy({ namespace: "*", resource: "*", apiGroup: "*" })}
{"user": "old", "resource": "pods", "readonly": true}
`),
);

test.each<[string, UserInfo, Attributes, boolean]>([
  ["a reader reads", user("alice"), pods("list"), true],
  ["a reader does not write", user("alice"), pods("create"), false],
  ["not in another namespace", user("alice"), pods("list", "other"), false],
  ["a star is everything", user("all"), pods("delete", "", "apps"), true],
  ["and every path", user("all"), path("/metrics", "post"), true],
  ["the core group is one group", user("all-core"), pods("delete", "", "apps"), false],
  ["by group", user("x", "team"), pods("create", "n", "g"), true],
  ["everybody who authenticated", user("x", "system:authenticated"), path("/version/x"), true],
  ["but no stranger", user("x", "system:unauthenticated"), path("/version"), false],
  ["no subject is nobody", user("", ""), pods("get"), false],
  ["the first form", user("old"), pods("watch", "any", "apps"), true],
  ["the first form, reading", user("old"), pods("update"), false],
])("%s", (_name, who, attributes, allowed) => {
  expect(authorizer.authorize(who, attributes)).toMatchObject({ kind: allowed ? "allow" : "noOpinion" });
});

describe("a rejected file", () => {
  test.each([
    ["{", /^line 1: /],
    [`\n${policy({ user: "a", verbs: "*" })}`, /^line 2: unknown field "spec\.verbs"/],
    ['{"apiVersion":"abac.authorization.kubernetes.io/v9","kind":"Policy","spec":{}}', /not a Policy of/],
    ["[]", /not a JSON object/],
  ])("%s", (text, message) => {
    expect(() => parseAbacPolicies(text)).toThrow(message);
  });
});

test("rules are listed for their subjects", () => {
  expect(authorizer.rulesFor?.(user("alice"), "ns").rules).toEqual([
    { verbs: ["get", "list", "watch"], apiGroups: [""], resources: ["pods"], resourceNames: [], nonResourceURLs: [] },
  ]);
  expect(authorizer.rulesFor?.(user("alice"), "other").rules).toEqual([]);
});
