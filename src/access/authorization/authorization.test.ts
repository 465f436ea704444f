import { describe, expect, test } from "bun:test";
import { parseRequestInfo } from "../../http/parse-request-info.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { alwaysAllowAuthorizer } from "./always-allow.ts";
import { alwaysDenyAuthorizer } from "./always-deny.ts";
import { type Authorizer, type Decision, noOpinion } from "./authorizer.ts";
import { forbiddenError } from "./forbidden.ts";
import { systemMastersAuthorizer } from "./system-masters.ts";
import { unionAuthorizer } from "./union.ts";

const user = (name: string, ...groups: string[]): UserInfo => ({ name, uid: "", groups, extra: new Map() });
const info = parseRequestInfo("GET", "/api/v1/pods");
const answers = (decision: Decision): Authorizer => ({ authorize: () => decision });
const later = (decision: Decision): Authorizer => ({ authorize: async () => decision });
const fails: Authorizer = {
  authorize: () => {
    throw new Error("down");
  },
};
const failsLater: Authorizer = { authorize: () => Promise.reject(new Error("down")) };
const deny: Decision = { kind: "deny", reason: "no" };

describe("the union of authorizers", () => {
  test.each<[string, Authorizer[], Decision["kind"]]>([
    ["nobody has an opinion", [answers(noOpinion), later(noOpinion)], "noOpinion"],
    ["the first allow decides", [answers(noOpinion), alwaysAllowAuthorizer, answers(deny)], "allow"],
    ["the first deny decides", [later(noOpinion), later(deny), alwaysAllowAuthorizer], "deny"],
    ["a failed one does not hide the next", [fails, failsLater, alwaysAllowAuthorizer], "allow"],
    ["always-deny leaves room for others", [alwaysDenyAuthorizer, alwaysAllowAuthorizer], "allow"],
  ])("%s", async (_name, authorizers, kind) => {
    expect((await unionAuthorizer(authorizers).authorize(user("u"), info)).kind).toBe(kind);
  });

  test("a failure without a decision is thrown, never an allow", async () => {
    expect(() => unionAuthorizer([fails, answers(noOpinion)]).authorize(user("u"), info)).toThrow("down");
    expect(Promise.resolve(unionAuthorizer([failsLater]).authorize(user("u"), info))).rejects.toThrow("down");
  });

  test("reasons are kept", async () => {
    const reasons = [answers({ kind: "noOpinion", reason: "a" }), later({ kind: "noOpinion", reason: "b" })];
    expect(await unionAuthorizer(reasons).authorize(user("u"), info)).toEqual({ kind: "noOpinion", reason: "a\nb" });
  });

  test("system:masters is a group, not a user", () => {
    expect(systemMastersAuthorizer.authorize(user("u", "system:masters"), info)).toMatchObject({ kind: "allow" });
    expect(systemMastersAuthorizer.authorize(user("system:masters"), info)).toMatchObject({ kind: "noOpinion" });
  });
});

describe("the text of a 403", () => {
  test.each([
    [
      "GET",
      "/api/v1/namespaces/ns/pods/p",
      "",
      'pods "p" is forbidden: User "u" cannot get resource "pods" in API group "" in the namespace "ns"',
    ],
    [
      "GET",
      "/apis/apps/v1/deployments",
      "",
      'deployments.apps is forbidden: User "u" cannot list resource "deployments" in API group "apps" at the cluster scope',
    ],
    [
      "GET",
      "/api/v1/namespaces/ns/pods/p/log",
      "why",
      'pods "p" is forbidden: User "u" cannot get resource "pods/log" in API group "" in the namespace "ns": why',
    ],
    ["GET", "/metrics", "", 'forbidden: User "u" cannot get path "/metrics"'],
    ["GET", "/a%3Cb%3E&c", "", 'forbidden: User "u" cannot get path "/a&lt;b&gt;&amp;c"'],
  ])("%s %s", (method, target, reason, message) => {
    const { status } = forbiddenError(user("u"), parseRequestInfo(method, target), reason);
    expect(status.message).toBe(message);
    expect(status.code).toBe(403);
  });

  test("details name the resource, and are empty for a path", () => {
    const resource = forbiddenError(user("u"), parseRequestInfo("GET", "/apis/apps/v1/namespaces/n/deployments/d"), "");
    expect(resource.status.details).toEqual({ name: "d", group: "apps", kind: "deployments" });
    expect(forbiddenError(user("u"), parseRequestInfo("GET", "/x"), "").status.details).toEqual({});
  });
});
