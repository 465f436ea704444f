import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { jsonPatch, mergePatch, TestServer } from "./server.ts";

/** A server with RBAC and users with static tokens: the token of `alice` is `alice-token`. */
const users = ["alice", "bob", "carol", "viewer", "granter", "binder", "namer"];
const directory = mkdtempSync(join(tmpdir(), "quorate-rbac-"));
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const clusterRoles = `${rbac}/clusterroles`;
const clusterRoleBindings = `${rbac}/clusterrolebindings`;
let server: TestServer;

beforeAll(async () => {
  const tokenAuthFile = join(directory, "tokens.csv");
  writeFileSync(tokenAuthFile, users.map((name) => `${name}-token,${name},${name}-uid,"team-${name}"`).join("\n"));
  server = await TestServer.start({ authorizationMode: ["RBAC"], tokenAuthFile, anonymousAuth: true });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const as = (name: string) => ({ token: `${name}-token` });
const rule = (verbs: string[], resources: string[], more: object = {}) => ({
  apiGroups: [""],
  verbs,
  resources,
  ...more,
});
const clusterRole = (name: string, ...rules: object[]) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name },
  rules,
});
const role = (name: string, ...rules: object[]) => ({ ...clusterRole(name, ...rules), kind: "Role" });
const binding = (name: string, roleName: string, ...names: string[]) => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRoleBinding",
  metadata: { name },
  subjects: names.map((user) => ({ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user })),
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: roleName },
});
const roleBinding = (name: string, roleName: string, ...names: string[]) => ({
  ...binding(name, roleName, ...names),
  kind: "RoleBinding",
});

async function grant(name: string, ...rules: object[]): Promise<void> {
  const own = `grant-${crypto.randomUUID().slice(0, 8)}`;
  await server.create(clusterRoles, clusterRole(own, ...rules));
  await server.create(clusterRoleBindings, binding(own, own, name));
}

describe("granted permissions", () => {
  test("nothing without a binding: 403 with upstream's text", async () => {
    const { code, json } = await server.get("/api/v1/namespaces/default/pods", as("alice"));
    expect(code).toBe(403);
    expect(json.message).toBe(
      'pods is forbidden: User "alice" cannot list resource "pods" in API group "" in the namespace "default"',
    );
  });

  test("an apply that creates needs the verb create besides patch", async () => {
    await grant("carol", rule(["patch"], ["configmaps"]));
    const apply = (name: string) => {
      const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "1" } };
      const path = `/api/v1/namespaces/default/configmaps/${name}?fieldManager=carol`;
      return server.patch(path, "application/apply-patch+yaml", body, as("carol"));
    };
    const refused = await apply("applied");
    expect(refused.code).toBe(403);
    expect(refused.json.message).toBe(
      'configmaps "applied" is forbidden: User "carol" cannot create resource "configmaps" in API group "" in the namespace "default"',
    );
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" } };
    await server.create("/api/v1/namespaces/default/configmaps", body);
    expect((await apply("applied")).code).toBe(200);
    await grant("carol", rule(["create"], ["configmaps"]));
    expect((await apply("created")).code).toBe(201);
  });

  test("a role takes effect at once, and so does its removal", async () => {
    await server.create(clusterRoles, clusterRole("sees-pods", rule(["list"], ["pods"])));
    await server.create(clusterRoleBindings, binding("sees-pods", "sees-pods", "alice"));
    expect((await server.get("/api/v1/pods", as("alice"))).code).toBe(200);
    await server.patch(`${clusterRoles}/sees-pods`, jsonPatch, [
      { op: "replace", path: "/rules/0/verbs", value: ["get"] },
    ]);
    expect((await server.get("/api/v1/pods", as("alice"))).code).toBe(403);
    await server.patch(`${clusterRoles}/sees-pods`, jsonPatch, [
      { op: "replace", path: "/rules/0/verbs", value: ["*"] },
    ]);
    expect((await server.get("/api/v1/pods", as("alice"))).code).toBe(200);
    await server.delete(`${clusterRoleBindings}/sees-pods`);
    expect((await server.get("/api/v1/pods", as("alice"))).code).toBe(403);
  });

  test("a RoleBinding to a ClusterRole reaches its namespace and no other, not even one whose name begins alike", async () => {
    for (const name of ["a", "ab"]) {
      await server.create("/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    }
    await server.create(`${rbac}/namespaces/a/rolebindings`, roleBinding("viewers", "view", "viewer"));
    expect((await server.get("/api/v1/namespaces/a/pods", as("viewer"))).code).toBe(200);
    expect((await server.get("/api/v1/namespaces/ab/pods", as("viewer"))).code).toBe(403);
    expect((await server.get("/api/v1/pods", as("viewer"))).code).toBe(403);
    expect((await server.get("/api/v1/namespaces/a/secrets", as("viewer"))).code).toBe(403);
  });

  test("a role that is bound and missing is named in the 403", async () => {
    await server.create(clusterRoleBindings, binding("dangling", "not-there", "carol"));
    const { json } = await server.get("/api/v1/nodes", as("carol"));
    expect(json.message).toEndWith(': RBAC: clusterrole.rbac.authorization.k8s.io "not-there" not found');
    await server.delete(`${clusterRoleBindings}/dangling`);
  });

  test("everybody may discover, strangers may only look at health and version", async () => {
    expect((await server.get("/apis", as("carol"))).code).toBe(200);
    expect((await server.get("/apis", { token: "" })).code).toBe(403);
    expect((await server.get("/version", { token: "" })).code).toBe(200);
    expect((await server.get("/livez", { token: "" })).code).toBe(200);
    expect((await server.get("/metrics", as("carol"))).json.message).toBe(
      'forbidden: User "carol" cannot get path "/metrics"',
    );
  });

  test("admin, edit and view collect the rules of roles with their labels", async () => {
    const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
    const own = clusterRole("widget-viewer", {
      apiGroups: ["widgets.example"],
      resources: ["widgets"],
      verbs: ["get"],
    });
    await server.create(clusterRoles, { ...own, metadata: { name: "widget-viewer", labels } });
    for (const name of ["view", "edit", "admin"]) {
      await until(async () => {
        const { text } = await server.get(`${clusterRoles}/${name}`);
        return text.includes("widgets.example");
      });
    }
  });
});

test("the rules of admin, edit and view are there at the start, and belong to their controller", async () => {
  await using fresh = await TestServer.start({ authorizationMode: ["RBAC"] });
  for (const name of ["view", "edit", "admin"]) {
    const { rules, metadata } = (await fresh.get(`${clusterRoles}/${name}`)).json;
    expect(rules.length).toBeGreaterThan(0);
    expect(metadata.managedFields).toMatchObject([
      { manager: "clusterrole-aggregation-controller", operation: "Apply", fieldsV1: { "f:rules": {} } },
      { manager: "quorate", operation: "Update", fieldsV1: { "f:aggregationRule": {} } },
    ]);
  }
});

describe("reviews", () => {
  const reviews = "/apis/authorization.k8s.io/v1";
  const ask = (kind: string, spec: object, options = {}, namespace = "") =>
    server.post(
      `${reviews}/${namespace === "" ? "" : `namespaces/${namespace}/`}${kind.toLowerCase()}s`,
      { apiVersion: "authorization.k8s.io/v1", kind, spec },
      options,
    );
  const pods = { namespace: "a", verb: "list", resource: "pods" };

  test("a user asks about their own rights, and learns which binding allows them", async () => {
    const { code, json } = await ask("SelfSubjectAccessReview", { resourceAttributes: pods }, as("viewer"));
    expect(code).toBe(201);
    expect(json.status).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "viewers/a" of ClusterRole "view" to User "viewer"',
    });
    const denied = await ask(
      "SelfSubjectAccessReview",
      { resourceAttributes: { ...pods, namespace: "ab" } },
      as("viewer"),
    );
    expect(denied.json.status).toEqual({ allowed: false });
  });

  test("an administrator may ask about any user", async () => {
    const spec = { user: "x", groups: ["system:masters"], nonResourceAttributes: { path: "/metrics", verb: "get" } };
    expect((await ask("SubjectAccessReview", spec)).json.status).toEqual({ allowed: true });
    expect((await ask("SubjectAccessReview", { ...spec, groups: [] })).json.status).toEqual({ allowed: false });
  });

  test("attack 40: reviews about others need a right of their own", async () => {
    const spec = { user: "bob", resourceAttributes: pods };
    expect((await ask("SubjectAccessReview", spec, as("viewer"))).code).toBe(403);
    expect((await ask("LocalSubjectAccessReview", spec, as("viewer"), "a")).code).toBe(403);
    expect((await ask("SelfSubjectRulesReview", { namespace: "a" }, { token: "" })).code).toBe(403);
  });

  test.each<[string, string, object, string]>([
    [
      "neither resource nor path",
      "SelfSubjectAccessReview",
      {},
      "exactly one of nonResourceAttributes or resourceAttributes",
    ],
    [
      "both",
      "SelfSubjectAccessReview",
      { resourceAttributes: pods, nonResourceAttributes: {} },
      "cannot be specified in combination",
    ],
    ["nobody", "SubjectAccessReview", { resourceAttributes: pods }, "at least one of user or group must be specified"],
    [
      "a selector without content",
      "SelfSubjectAccessReview",
      { resourceAttributes: { ...pods, fieldSelector: {} } },
      "requirements or rawSelector is required",
    ],
  ])("422 for %s", async (_what, kind, spec, message) => {
    const { code, json } = await ask(kind, spec);
    expect({ code, found: json.message.includes(message), message: json.message }).toMatchObject({
      code: 422,
      found: true,
    });
  });

  test("a local review is about its own namespace and about resources", async () => {
    const other = await ask("LocalSubjectAccessReview", { user: "bob", resourceAttributes: pods }, {}, "ab");
    expect(other.json.message).toContain("must match metadata.namespace");
    const same = await ask("LocalSubjectAccessReview", { user: "viewer", resourceAttributes: pods }, {}, "a");
    expect(same.json.status.allowed).toBe(true);
  });

  test("unreadable parts of a selector are ignored and reported", async () => {
    const fieldSelector = { requirements: [{ key: "spec.nodeName", operator: "In", values: ["a", "b"] }] };
    const { json } = await ask(
      "SelfSubjectAccessReview",
      { resourceAttributes: { ...pods, fieldSelector } },
      as("viewer"),
    );
    expect(json.status).toMatchObject({
      allowed: true,
      evaluationError: "spec.resourceAttributes.fieldSelector ignored due to parse error",
    });
  });

  test("the rules of a namespace", async () => {
    const { json } = await ask("SelfSubjectRulesReview", { namespace: "a" }, as("viewer"));
    expect(json.status.incomplete).toBe(false);
    expect(json.status.resourceRules).toContainEqual({
      verbs: ["get", "list", "watch"],
      apiGroups: [""],
      resources: ["namespaces"],
    });
    expect(json.status.nonResourceRules.length).toBeGreaterThan(0);
    expect((await ask("SelfSubjectRulesReview", {}, as("viewer"))).code).toBe(400);
  });

  test("they are only posted", async () => {
    expect((await server.get(`${reviews}/subjectaccessreviews`)).code).toBe(405);
  });
});

describe("attack 28: users cannot grant more than they have", () => {
  const secrets = rule(["get"], ["secrets"]);
  const pods = rule(["get", "list"], ["pods"]);
  const text =
    /^clusterroles\.rbac\.authorization\.k8s\.io "[^"]*" is forbidden: user "granter" \(groups=\["team-granter" "system:authenticated"\]\) is attempting to grant RBAC permissions not currently held:\n/;
  let id = 0;

  beforeAll(async () => {
    const rbacRule = {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["*"],
      verbs: ["create", "update", "patch", "get"],
    };
    await grant("granter", rbacRule, pods, rule(["update"], ["configmaps"], { resourceNames: ["a"] }), {
      nonResourceURLs: ["/logs/*"],
      verbs: ["get"],
    });
  });

  test.each<[string, object, string | undefined]>([
    ["a rule of one's own", rule(["get"], ["pods"]), undefined],
    ["a name that is one's own", rule(["update"], ["configmaps"], { resourceNames: ["a"] }), undefined],
    ["a path below one's own", { nonResourceURLs: ["/logs/x", "/logs/x/*"], verbs: ["get"] }, undefined],
    ["another resource", secrets, '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}'],
    [
      "another verb",
      rule(["get", "delete", "watch"], ["pods"]),
      '{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]}',
    ],
    ["every verb", rule(["*"], ["pods"]), 'Verbs:["*"]'],
    ["every resource", rule(["get"], ["*"]), 'Resources:["*"]'],
    ["every group", { apiGroups: ["*"], resources: ["pods"], verbs: ["get"] }, 'APIGroups:["*"]'],
    ["a subresource", rule(["get"], ["pods/log"]), 'Resources:["pods/log"]'],
    ["all names where one is held", rule(["update"], ["configmaps"]), 'Resources:["configmaps"], Verbs:["update"]'],
    ["another name", rule(["update"], ["configmaps"], { resourceNames: ["a", "b"] }), 'ResourceNames:["b"]'],
    ["another path", { nonResourceURLs: ["/metrics"], verbs: ["get"] }, 'NonResourceURLs:["/metrics"]'],
    ["a path above one's own", { nonResourceURLs: ["/*"], verbs: ["get"] }, 'NonResourceURLs:["/*"]'],
  ])("%s", async (_what, granted, refused) => {
    const { code, json } = await server.post(clusterRoles, clusterRole(`try-${id++}`, granted), as("granter"));
    if (refused === undefined) {
      expect({ code, message: json.message }).toEqual({ code: 201, message: undefined });
      return;
    }
    expect(code).toBe(403);
    expect(json.message).toMatch(text);
    expect(json.message).toContain(refused);
  });

  test("through every verb, and in a dry run", async () => {
    await server.create(clusterRoles, clusterRole("target", pods));
    const wider = clusterRole("target", pods, secrets);
    const answers = [
      await server.put(`${clusterRoles}/target`, wider, as("granter")),
      await server.patch(
        `${clusterRoles}/target`,
        "application/merge-patch+json",
        { rules: wider.rules },
        as("granter"),
      ),
      await server.patch(
        `${clusterRoles}/target`,
        jsonPatch,
        [{ op: "add", path: "/rules/-", value: secrets }],
        as("granter"),
      ),
      await server.patch(
        `${clusterRoles}/target`,
        "application/strategic-merge-patch+json",
        { rules: wider.rules },
        as("granter"),
      ),
      await server.post(`${clusterRoles}?dryRun=All`, clusterRole("dry", secrets), as("granter")),
      await server.put(`${clusterRoles}/target?dryRun=All`, wider, as("granter")),
      await server.post(`${rbac}/namespaces/a/roles`, role("wide", secrets), as("granter")),
    ];
    expect(answers.map(({ code }) => code)).toEqual(answers.map(() => 403));
    expect((await server.get(`${clusterRoles}/target`)).json.rules).toHaveLength(1);
  });

  test("through labels that make other roles collect the rules, and through an aggregation of one's own", async () => {
    const labels = { "rbac.authorization.k8s.io/aggregate-to-view": "true" };
    const labelled = { ...clusterRole("labelled", secrets), metadata: { name: "labelled", labels } };
    expect((await server.post(clusterRoles, labelled, as("granter"))).code).toBe(403);
    await server.create(clusterRoles, clusterRole("unlabelled", secrets));
    const patched = await server.patch(
      `${clusterRoles}/unlabelled`,
      "application/merge-patch+json",
      { metadata: { labels } },
      as("granter"),
    );
    expect(patched.code).toBe(403);
    const aggregated = { ...clusterRole("aggregated"), aggregationRule: { clusterRoleSelectors: [{}] } };
    const { code, json } = await server.post(clusterRoles, aggregated, as("granter"));
    expect(code).toBe(403);
    expect(json.message).toEndWith("must have cluster-admin privileges to use the aggregationRule");
  });

  test("a rule of 400 million permissions is refused without listing them", async () => {
    const words = Array.from({ length: 20_000 }, (_, at) => `x${at}`);
    const { code } = await server.post(clusterRoles, clusterRole("wide", rule(words, words)), as("granter"));
    expect(code).toBe(403);
  });

  test("a user who may escalate may grant anything", async () => {
    await grant("carol", {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["clusterroles"],
      verbs: ["create", "escalate"],
    });
    expect((await server.post(clusterRoles, clusterRole("escalated", secrets), as("carol"))).code).toBe(201);
  });
});

describe("attack 29: users cannot bind a role whose rules they do not have", () => {
  beforeAll(async () => {
    const bindings = {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["rolebindings", "clusterrolebindings"],
      verbs: ["*"],
    };
    await grant("binder", bindings, rule(["get"], ["pods"]));
    await server.create(clusterRoles, clusterRole("small", rule(["get"], ["pods"])));
    await server.create(clusterRoles, clusterRole("large", rule(["get"], ["secrets"])));
  });

  test.each<[string, string, number]>([
    ["small", "a role with one's own rules", 201],
    ["large", "a role with others", 403],
    ["cluster-admin", "the role with all of them", 403],
    ["absent", "a role that does not exist", 404],
  ])("%s: %s", async (name, _what, code) => {
    const cluster = await server.post(clusterRoleBindings, binding(`to-${name}`, name, "binder"), as("binder"));
    const inNamespace = await server.post(
      `${rbac}/namespaces/a/rolebindings`,
      roleBinding(`to-${name}`, name, "x"),
      as("binder"),
    );
    expect([cluster.code, inNamespace.code]).toEqual([code, code]);
    if (code !== 404) return;
    expect([cluster.json.message, inNamespace.json.message]).toEqual([
      'clusterrolebindings.rbac.authorization.k8s.io "absent" not found',
      'rolebindings.rbac.authorization.k8s.io "absent" not found',
    ]);
  });

  test("subjects cannot be added to a binding that one could not make", async () => {
    await server.create(clusterRoleBindings, binding("masters", "large", "alice"));
    const { code } = await server.put(
      `${clusterRoleBindings}/masters`,
      binding("masters", "large", "alice", "binder"),
      as("binder"),
    );
    expect(code).toBe(403);
  });

  test("the role of a binding cannot be changed", async () => {
    const { code, json } = await server.put(`${clusterRoleBindings}/masters`, binding("masters", "small", "alice"));
    expect(code).toBe(422);
    expect(json.message).toContain("cannot change roleRef");
  });

  test("a user who may bind one role can bind that role only", async () => {
    await grant("binder", {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["clusterroles"],
      verbs: ["bind"],
      resourceNames: ["large"],
    });
    expect((await server.post(clusterRoleBindings, binding("bound", "large", "x"), as("binder"))).code).toBe(201);
    expect((await server.post(clusterRoleBindings, binding("all", "cluster-admin", "x"), as("binder"))).code).toBe(403);
  });

  test("a name alone does not mean an account of another namespace", async () => {
    const subjects = [{ kind: "ServiceAccount", name: "robot", namespace: "ab" }];
    await server.create(`${rbac}/namespaces/a/rolebindings`, { ...roleBinding("robots", "small"), subjects });
    const asked = async (user: string) => {
      const spec = { user, resourceAttributes: { namespace: "a", verb: "get", resource: "pods" } };
      const body = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };
      return (await server.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", body)).json.status.allowed;
    };
    expect(await asked("system:serviceaccount:ab:robot")).toBe(true);
    expect(await asked("system:serviceaccount:a:robot")).toBe(false);
  });
});

test("a start restores missing parts of the default roles, and skips those that opt out", async () => {
  const dataDir = join(directory, "data");
  const options = { authorizationMode: ["RBAC"], dataDir, controllers: "*" };
  const first = await TestServer.start(options);
  const own = rule(["get"], ["own"]);
  await first.patch(`${clusterRoles}/system:discovery`, mergePatch, { rules: [own] });
  await first.patch(`${clusterRoles}/view`, mergePatch, { metadata: { labels: { mine: "1" } } });
  const frozen = { annotations: { "rbac.authorization.kubernetes.io/autoupdate": "false" } };
  await first.patch(`${clusterRoles}/system:monitoring`, mergePatch, { metadata: frozen, rules: [own] });
  await first.delete(`${clusterRoleBindings}/system:basic-user`);
  const names = (await first.get(clusterRoles)).json.items.length;
  await first.close();

  await using second = await TestServer.start(options);
  const discovery = (await second.get(`${clusterRoles}/system:discovery`)).json;
  expect(discovery.rules[0]).toEqual(own);
  expect(discovery.rules[1].nonResourceURLs).toContain("/apis");
  expect((await second.get(`${clusterRoles}/system:monitoring`)).json.rules).toEqual([own]);
  expect((await second.get(`${clusterRoles}/view`)).json.metadata.labels.mine).toBe("1");
  expect((await second.get(`${clusterRoleBindings}/system:basic-user`)).code).toBe(200);
  expect((await second.get(clusterRoles)).json.items.length).toBe(names);
});
