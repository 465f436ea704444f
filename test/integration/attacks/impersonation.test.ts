import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "../server.ts";

/** Every user may impersonate something else. A review that everybody may post returns the resulting user. */
const grants: Readonly<Record<string, readonly object[]>> = {
  nobody: [],
  users: [impersonate("", "users", ["bob", "system:anonymous", "system:node:n1"])],
  groups: [impersonate("", "groups", ["devs"])],
  both: [impersonate("", "users", ["bob"]), impersonate("", "groups", ["devs"])],
  everyone: [impersonate("", "users"), impersonate("", "groups")],
  accounts: [impersonate("", "serviceaccounts", ["robot"])],
  extras: [
    impersonate("", "users", ["bob"]),
    impersonate("authentication.k8s.io", "userextras/scopes", ["view", "edit"]),
    impersonate("authentication.k8s.io", "userextras/a/b", ["c"]),
    impersonate("authentication.k8s.io", "uids", ["42"]),
  ],
  masters: [impersonate("", "users", ["bob"]), impersonate("", "groups", ["system:masters"])],
  constrained: [
    { ...impersonate("authentication.k8s.io", "users", ["bob"]), verbs: ["impersonate:user-info"] },
    { apiGroups: [""], resources: ["pods"], verbs: ["impersonate-on:user-info:list"] },
  ],
};
const directory = mkdtempSync(join(tmpdir(), "quorate-impersonation-"));
const rbac = "/apis/rbac.authorization.k8s.io/v1";
let server: TestServer;
/** A server without constrained impersonation. Its refusals name the denied part. */
let plain: TestServer;

function impersonate(group: string, resource: string, resourceNames?: string[]): object {
  return {
    apiGroups: [group],
    resources: [resource],
    verbs: ["impersonate"],
    ...(resourceNames ? { resourceNames } : {}),
  };
}

beforeAll(async () => {
  const tokenAuthFile = join(directory, "tokens.csv");
  const names = Object.keys(grants);
  writeFileSync(tokenAuthFile, names.map((name) => `${name}-token,${name},${name}-uid,"team"`).join("\n"));
  const options = { authorizationMode: ["RBAC"], tokenAuthFile, anonymousAuth: true };
  [server, plain] = await Promise.all([
    TestServer.start(options),
    TestServer.start({ ...options, featureGates: { ConstrainedImpersonation: false } }),
  ]);
  await Promise.all([grantAll(server), grantAll(plain)]);
});
afterAll(async () => {
  await Promise.all([server[Symbol.asyncDispose](), plain[Symbol.asyncDispose]()]);
  rmSync(directory, { recursive: true });
});

function object(kind: string, name: string, fields: object): object {
  return { apiVersion: "rbac.authorization.k8s.io/v1", kind, metadata: { name }, ...fields };
}

async function grantAll(to: TestServer): Promise<void> {
  await Promise.all(
    [...Object.entries(grants), ["bob", [{ apiGroups: [""], resources: ["pods"], verbs: ["list"] }]] as const].map(
      async ([name, rules]) => {
        await to.create(`${rbac}/clusterroles`, object("ClusterRole", name, { rules }));
        const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name }];
        const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
        await to.create(`${rbac}/clusterrolebindings`, object("ClusterRoleBinding", name, { subjects, roleRef }));
      },
    ),
  );
}

const listPods = async (user: string, headers: Record<string, string>, from = server) => {
  const { code, json } = await from.get("/api/v1/pods", { token: `${user}-token`, headers });
  return { code, message: json.message as string | undefined };
};

describe("attack 24: each part is authorized on its own", () => {
  test.each<[string, Record<string, string>, string]>([
    [
      "nobody",
      { "impersonate-user": "bob" },
      'users "bob" is forbidden: User "nobody" cannot impersonate resource "users" in API group "" at the cluster scope',
    ],
    ["users", { "impersonate-user": "carol" }, 'users "carol" is forbidden'],
    ["users", { "impersonate-user": "bob", "impersonate-group": "devs" }, 'groups "devs" is forbidden'],
    ["groups", { "impersonate-user": "bob", "impersonate-group": "devs" }, 'users "bob" is forbidden'],
    [
      "both",
      { "impersonate-user": "bob", "impersonate-group": "system:masters" },
      'groups "system:masters" is forbidden',
    ],
    ["both", { "impersonate-user": "bob", "impersonate-uid": "42" }, 'uids.authentication.k8s.io "42" is forbidden'],
    ["extras", { "impersonate-user": "bob", "impersonate-uid": "43" }, 'uids.authentication.k8s.io "43" is forbidden'],
    [
      "both",
      { "impersonate-user": "bob", "impersonate-extra-scopes": "view" },
      'userextras.authentication.k8s.io "view" is forbidden: User "both" cannot impersonate resource "userextras/scopes" in API group "authentication.k8s.io" at the cluster scope',
    ],
    [
      "extras",
      { "impersonate-user": "bob", "impersonate-extra-scopes": "admin" },
      'userextras.authentication.k8s.io "admin" is forbidden',
    ],
    ["extras", { "impersonate-user": "bob", "impersonate-extra-other": "view" }, 'resource "userextras/other"'],
  ])("%s with %j is refused", async (user, headers, message) => {
    const refusal = `pods is forbidden: User "${user}" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope`;
    expect(await listPods(user, headers)).toEqual({ code: 403, message: refusal });
    const ofPart = await listPods(user, headers, plain);
    expect(ofPart.code).toBe(403);
    expect(ofPart.message).toContain(message);
  });

  test.each<[string, Record<string, string>]>([
    ["users", { "impersonate-user": "bob" }],
    ["both", { "impersonate-user": "bob", "impersonate-group": "devs" }],
    ["extras", { "impersonate-user": "bob", "impersonate-extra-scopes": "view", "impersonate-uid": "42" }],
    ["masters", { "impersonate-user": "bob", "impersonate-group": "system:masters" }],
    ["constrained", { "impersonate-user": "bob" }],
  ])("%s with %j is let through", async (user, headers) => {
    expect(await listPods(user, headers)).toEqual({ code: 200, message: undefined });
  });

  test.each<[Record<string, string>]>([
    [{ "impersonate-group": "devs" }],
    [{ "impersonate-uid": "42" }],
    [{ "impersonate-extra-scopes": "view" }],
    [{ "impersonate-user": "", "impersonate-group": "devs" }],
  ])("%j without a user is a 400", async (headers) => {
    const { code, message } = await listPods("everyone", headers);
    expect(code).toBe(400);
    expect(message).toContain("without impersonating a user name");
  });

  test("an empty user alone leaves the sender with its own rights", async () => {
    expect(await listPods("everyone", { "impersonate-user": "" })).toEqual({
      code: 403,
      message: 'pods is forbidden: User "everyone" cannot list resource "pods" in API group "" at the cluster scope',
    });
  });
});

describe("attack 25: the other's rights are the only ones", () => {
  test("the sender's own groups are dropped", async () => {
    expect((await listPods("users", {})).code).toBe(403);
    const asBob = { token: "users-token", headers: { "impersonate-user": "bob" } };
    const { code, json } = await server.get("/api/v1/nodes", asBob);
    expect(code).toBe(403);
    expect(json.message).toContain('User "bob" cannot list');
    const asAdmin = await server.get("/api/v1/nodes", { headers: { "impersonate-user": "bob" } });
    expect(asAdmin.code).toBe(403);
  });

  test("system:authenticated is a group of every user but the anonymous one", async () => {
    expect((await server.get("/apis", { token: "users-token", headers: { "impersonate-user": "bob" } })).code).toBe(
      200,
    );
    const stranger = { token: "users-token", headers: { "impersonate-user": "system:anonymous" } };
    expect((await server.get("/apis", stranger)).code).toBe(403);
    const unauthenticated = { "impersonate-user": "bob", "impersonate-group": "system:unauthenticated" };
    expect((await server.get("/apis", { token: "everyone-token", headers: unauthenticated })).code).toBe(403);
  });

  test("a constrained right ends at the requests that it names", async () => {
    const asBob = { token: "constrained-token", headers: { "impersonate-user": "bob" } };
    expect((await server.get("/apis", asBob)).code).toBe(403);
    const { message } = await listPods("constrained", { "impersonate-user": "carol" });
    expect(message).toContain('User "constrained" cannot impersonate:user-info resource "users"');
  });
});

test.each<[string, string, number]>([
  ["a slash", "a%2Fb", 200],
  ["capitals", "A%2fB", 200],
  ["nothing that can be decoded", "a%zzb", 403],
  ["a prototype", "__proto__", 403],
])("attack 26: a key of extra with %s", async (_what, key, code) => {
  const answer = await listPods("extras", { "impersonate-user": "bob", [`impersonate-extra-${key}`]: "c" });
  expect(answer.code).toBe(code);
});

describe("attack 27: accounts are impersonated as accounts", () => {
  // These users have impersonated others before, so the refusal is that of the mode that was then allowed.
  test("not by a user who may be any user", async () => {
    const robot = { "impersonate-user": "system:serviceaccount:default:robot" };
    expect(await listPods("everyone", robot)).toEqual({
      code: 403,
      message:
        'serviceaccounts "robot" is forbidden: User "everyone" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "default"',
    });
    const ofPart = await listPods("everyone", robot, plain);
    expect(ofPart.code).toBe(403);
    expect(ofPart.message).toContain(
      'serviceaccounts "robot" is forbidden: User "everyone" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "default"',
    );
  });

  test("with a right of that name, and then with the groups of accounts", async () => {
    const { message } = await listPods("accounts", { "impersonate-user": "system:serviceaccount:default:robot" });
    expect(message).toContain('User "system:serviceaccount:default:robot" cannot list');
    const path = "/.well-known/openid-configuration";
    const headers = { "impersonate-user": "system:serviceaccount:default:robot" };
    expect((await server.get(path, { token: "accounts-token", headers })).code).not.toBe(403);
  });

  test("a node needs the right on users", async () => {
    const node = { "impersonate-user": "system:node:n1" };
    expect((await listPods("users", node)).message).toContain('User "system:node:n1" cannot list');
    expect(await listPods("accounts", node)).toEqual({
      code: 403,
      message:
        'users "system:node:n1" is forbidden: User "accounts" cannot impersonate resource "users" in API group "" at the cluster scope',
    });
    const ofPart = await listPods("accounts", node, plain);
    expect(ofPart.code).toBe(403);
    expect(ofPart.message).toContain('users "system:node:n1" is forbidden');
  });
});
