import { describe, expect, test } from "bun:test";
import { parseRequestInfo } from "../../http/parse-request-info.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { parseAuditPolicy } from "./parse-policy.ts";
import { auditRule } from "./policy.ts";

const header = { apiVersion: "audit.k8s.io/v1", kind: "Policy" };
const parse = (fields: object) => parseAuditPolicy(new TextEncoder().encode(JSON.stringify({ ...header, ...fields })));
const alice: UserInfo = { name: "alice", uid: "", groups: ["team"], extra: new Map() };

/** Reports whether a rule matches a request. */
function matches(rule: object, method: string, target: string, user: UserInfo | undefined = alice): boolean {
  const policy = parse({ rules: [{ level: "Metadata", ...rule }] });
  return auditRule(policy, user, parseRequestInfo(method, target)) !== undefined;
}

const pods = "/api/v1/namespaces/ns/pods";
const of = (resources?: string[], more: object = {}) => ({
  resources: [{ group: "", ...(resources ? { resources } : {}), ...more }],
});

test.each<[object, string, string, boolean]>([
  [{}, "GET", pods, true],
  [{}, "GET", "/metrics", true],
  [{ users: ["alice"] }, "GET", pods, true],
  [{ users: ["bob"] }, "GET", pods, false],
  [{ userGroups: ["x", "team"] }, "GET", pods, true],
  [{ userGroups: ["x"] }, "GET", pods, false],
  [{ verbs: ["list"] }, "GET", pods, true],
  [{ verbs: ["watch"] }, "GET", pods, false],
  [{ namespaces: ["ns"] }, "GET", pods, true],
  [{ namespaces: [""] }, "GET", pods, false],
  [{ namespaces: [""] }, "GET", "/api/v1/nodes", true],
  [{ namespaces: [""] }, "GET", "/metrics", false],
  [of(["pods"]), "GET", pods, true],
  [of(["pods"]), "GET", `${pods}/p/log`, false],
  [of(["pods/log"]), "GET", `${pods}/p/log`, true],
  [of(["pods/*"]), "GET", `${pods}/p/log`, true],
  [of(["pods/*"]), "GET", pods, true],
  [of(["*/log"]), "GET", `${pods}/p/log`, true],
  [of(["*/status"]), "GET", `${pods}/p/log`, false],
  [of(["*"]), "GET", `${pods}/p/log`, true],
  [of(), "GET", pods, true],
  [of(), "GET", "/apis/apps/v1/deployments", false],
  [of(["pods"], { resourceNames: ["p"] }), "GET", `${pods}/p`, true],
  [of(["pods"], { resourceNames: ["p"] }), "GET", `${pods}/q`, false],
  [{ nonResourceURLs: ["/metrics"] }, "GET", "/metrics", true],
  [{ nonResourceURLs: ["/healthz*"] }, "GET", "/healthz/ping", true],
  [{ nonResourceURLs: ["*"] }, "GET", pods, false],
])("%j of %s %s: %p", (rule, method, target, expected) => {
  expect(matches(rule, method, target)).toBe(expected);
});

test("an unauthenticated request matches no rule about users", () => {
  expect(matches({ users: [""] }, "GET", pods, undefined)).toBe(false);
  expect(
    auditRule(parse({ rules: [{ level: "Metadata", userGroups: [""] }] }), undefined, parseRequestInfo("GET", pods)),
  ).toBeUndefined();
  expect(matches({ verbs: ["list"] }, "GET", pods, undefined)).toBe(true);
});

test("the first matching rule decides; None or no match records nothing", () => {
  const policy = parse({
    rules: [
      { level: "None", verbs: ["get"] },
      { level: "Request", verbs: ["get", "list"] },
    ],
  });
  const levelOf = (target: string) => auditRule(policy, alice, parseRequestInfo("GET", target))?.level;
  expect([levelOf(pods), levelOf(`${pods}/p`), levelOf("/api/v1/watch/pods")]).toEqual([
    "Request",
    undefined,
    undefined,
  ]);
});

test("stages are omitted by the policy and by the rule", () => {
  const { rules } = parse({ omitStages: ["RequestReceived"], rules: [{ level: "Metadata", omitStages: ["Panic"] }] });
  expect([...(rules[0]?.omitStages ?? [])]).toEqual(["RequestReceived", "Panic"]);
});

describe("is rejected", () => {
  test.each<[object, string]>([
    [{ kind: "Other", rules: [] }, "the file is not a Policy of audit.k8s.io/v1"],
    [{ apiVersion: "audit.k8s.io/v1beta1", rules: [] }, "the file is not a Policy of audit.k8s.io/v1"],
    [{}, "rules: Required value"],
    [{ rules: [{}] }, "rules[0].level: Required value"],
    [{ rules: [{ level: "All" }] }, 'rules[0].level: Unsupported value: "All"'],
    [{ rules: [{ level: "None", omitStages: ["Never"] }] }, 'rules[0].omitStages[0]: Unsupported value: "Never"'],
    [{ omitStages: "Panic", rules: [{ level: "None" }] }, "omitStages: Invalid value"],
    [{ rules: [{ level: "None", users: "alice" }] }, "rules[0].users: Invalid value"],
    [{ rules: [{ level: "None", nonResourceURLs: ["metrics"] }] }, "must begin with a '/' character"],
    [{ rules: [{ level: "None", nonResourceURLs: ["/a*b"] }] }, "must be the final character"],
    [{ rules: [{ level: "None", nonResourceURLs: ["/a"], namespaces: ["b"] }] }, "cannot apply to both"],
    [{ rules: [{ level: "None", ...of(undefined, { resourceNames: ["a"] }) }] }, "requires at least one resource"],
    [{ rules: [{ level: "None", resources: [{ group: "apps/v1" }] }] }, "must not contain a version"],
    [{ rules: [{ level: "None", resource: [] }] }, "rules[0].resource: Invalid value: unknown field"],
    [{ rule: [], rules: [{ level: "None" }] }, "rule: Invalid value: unknown field"],
  ])("%j", (fields, message) => {
    expect(() => parse(fields)).toThrow(message);
  });
});
