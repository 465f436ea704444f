import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

/** A server with RBAC, its administrator, and a developer with `edit` in one namespace. */
let server: RunningServer;
let scratch: string;
let kubectl: Kubectl;
let developer: Kubectl;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "quorate-rbac-"));
  const tokenAuthFile = join(scratch, "tokens.csv");
  await writeFile(tokenAuthFile, "dev-token,dev,u1,developers\n");
  server = await startServer({ tokenAuthFile, authorizationMode: ["RBAC"] });
  kubectl = await Kubectl.open(server.kubeconfig);
  developer = await Kubectl.open(kubeconfigWithToken("dev-token"));
  await kubectl.ok(["create", "namespace", "team"]);
  await kubectl.ok(["create", "rolebinding", "developers", "--clusterrole=edit", "--group=developers", "-n", "team"]);
});

afterAll(async () => {
  await Promise.all([kubectl, developer].map((each) => each[Symbol.asyncDispose]()));
  await server.close({ graceMs: 0 });
  await rm(scratch, { recursive: true });
});

function kubeconfigWithToken(token: string): string {
  const cluster = { server: server.url, "certificate-authority-data": btoa(server.ca) };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "it",
    clusters: [{ name: "it", cluster }],
    users: [{ name: "it", user: { token } }],
    contexts: [{ name: "it", context: { cluster: "it", user: "it" } }],
  });
}

describe("auth can-i", () => {
  test.each<[string, string[], "yes" | "no"]>([
    ["in the namespace", ["create", "deployments", "-n", "team"], "yes"],
    ["a subresource", ["get", "pods", "--subresource=log", "-n", "team"], "yes"],
    ["in another namespace", ["create", "deployments", "-n", "default"], "no"],
    ["what edit leaves out", ["create", "roles", "-n", "team"], "no"],
    ["in the cluster", ["list", "nodes"], "no"],
    ["a path", ["get", "/version"], "yes"],
    ["another path", ["get", "/metrics"], "no"],
    ["everything", ["*", "*"], "no"],
  ])("%s: %p", async (_what, args, answer) => {
    const { code, stdout } = await developer.run(["auth", "can-i", ...args]);
    expect({ code, said: stdout.trim() }).toEqual({ code: answer === "yes" ? 0 : 1, said: answer });
  });

  test("the administrator may everything", async () => {
    expect((await kubectl.ok(["auth", "can-i", "*", "*", "--all-namespaces"])).trim()).toBe("yes");
  });

  test("--list shows the permissions of the roles", async () => {
    const printed = await developer.ok(["auth", "can-i", "--list", "-n", "team"]);
    expect(printed).toMatch(/^deployments\.apps\s+\[\]\s+\[\]\s+\[.*create.*\]$/m);
    expect(printed).toMatch(/^selfsubjectaccessreviews\.authorization\.k8s\.io\s+\[\]\s+\[\]\s+\[create\]$/m);
    expect(printed).toMatch(/\[\/healthz\]\s+\[\]\s+\[get\]/);
    expect(await developer.ok(["auth", "can-i", "--list", "-n", "default"])).not.toContain("deployments.apps");
  });
});

describe("as somebody else", () => {
  test("--as, --as-group and --as-uid", async () => {
    const asDeveloper = ["--as=anyone", "--as-group=developers", "--as-uid=42"];
    expect((await kubectl.ok(["auth", "can-i", "create", "pods", "-n", "team", ...asDeveloper])).trim()).toBe("yes");
    expect((await kubectl.run(["auth", "can-i", "create", "pods", "-n", "team", "--as=anyone"])).stdout.trim()).toBe(
      "no",
    );
    expect(await kubectl.refused(["get", "nodes", "--as=anyone"])).toBe(
      'Error from server (Forbidden): nodes is forbidden: User "anyone" cannot list resource "nodes" in API group "" at the cluster scope',
    );
  });

  test("not without the right to", async () => {
    expect(await developer.refused(["get", "pods", "-n", "team", "--as=admin"])).toBe(
      'Error from server (Forbidden): pods is forbidden: User "dev" cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "team"',
    );
  });
});

describe("create", () => {
  test("role, clusterrole, rolebinding and clusterrolebinding", async () => {
    await kubectl.ok([
      "create",
      "role",
      "reader",
      "--verb=get,list",
      "--resource=pods,deployments.apps",
      "--resource-name=a",
      "-n",
      "team",
    ]);
    await kubectl.ok([
      "create",
      "rolebinding",
      "readers",
      "--role=reader",
      "--serviceaccount=team:robot",
      "-n",
      "team",
    ]);
    await kubectl.ok(["create", "clusterrole", "metrics", "--verb=get", "--non-resource-url=/metrics"]);
    await kubectl.ok(["create", "clusterrole", "collected", "--aggregation-rule=team=true"]);
    await kubectl.ok(["create", "clusterrolebinding", "metrics", "--clusterrole=metrics", "--user=dev"]);
    expect((await kubectl.get(["role", "reader", "-n", "team"])).rules).toEqual([
      { apiGroups: [""], resourceNames: ["a"], resources: ["pods"], verbs: ["get", "list"] },
      { apiGroups: ["apps"], resourceNames: ["a"], resources: ["deployments"], verbs: ["get", "list"] },
    ]);
    const robot = ["--as=system:serviceaccount:team:robot", "-n", "team"];
    expect((await kubectl.ok(["auth", "can-i", "get", "pods/a", ...robot])).trim()).toBe("yes");
    expect((await kubectl.run(["auth", "can-i", "get", "pods/b", ...robot])).stdout.trim()).toBe("no");
    expect(await developer.ok(["get", "--raw", "/metrics"])).toContain("apiserver_request_total");
  });

  test("users cannot grant more than they have", async () => {
    await kubectl.ok(["create", "rolebinding", "namespace-admin", "--clusterrole=admin", "--user=lead", "-n", "team"]);
    const asLead = ["--as=lead", "-n", "team"];
    await kubectl.ok(["create", "role", "pods", "--verb=get", "--resource=pods", ...asLead]);
    expect(await kubectl.refused(["create", "role", "nodes", "--verb=get", "--resource=nodes", ...asLead])).toBe(
      'Error from server (Forbidden): roles.rbac.authorization.k8s.io "nodes" is forbidden: user "lead" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["nodes"], Verbs:["get"]}',
    );
  });
});

test("auth reconcile adds missing parts and keeps existing ones", async () => {
  const role = (...verbs: string[]) => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "Role",
    metadata: { name: "reconciled", namespace: "team" },
    rules: [{ apiGroups: [""], resources: ["pods"], verbs }],
  });
  const binding = (user: string) => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "reconciled", namespace: "team" },
    subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }],
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reconciled" },
  });
  const reconcile = (...items: object[]) =>
    kubectl.ok(["auth", "reconcile", "-f", "-"], {
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
    });
  expect(await reconcile(role("get"), binding("a"))).toContain("role.rbac.authorization.k8s.io/reconciled reconciled");
  await reconcile(role("get", "list"), binding("b"));
  const { rules } = await kubectl.get(["role", "reconciled", "-n", "team"]);
  expect(new Set(rules.flatMap(({ verbs }: { verbs: string[] }) => verbs))).toEqual(new Set(["get", "list"]));
  const { subjects } = await kubectl.get(["rolebinding", "reconciled", "-n", "team"]);
  expect(subjects.map(({ name }: { name: string }) => name)).toEqual(["a", "b"]);
});

test("describe shows the rules of a default role", async () => {
  expect(await kubectl.ok(["describe", "clusterrole", "cluster-admin"])).toMatch(/\*\.\*\s+\[\]\s+\[\]\s+\[\*\]/);
});
