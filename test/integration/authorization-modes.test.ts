import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerOptions } from "../../src/index.ts";
import { until } from "../until.ts";
import { configMap, pod, TestServer } from "./server.ts";
import { TlsService } from "./tls-service.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-modes-"));
const tokenAuthFile = file(
  "tokens.csv",
  'alice-token,alice,1,"team"\nnode-token,system:node:n1,2,"system:nodes"\nevil-token,system:node:n2,3,"system:nodes"\n',
);

/** A service that answers questions, and the questions that it received. */
let heard: { readonly path: string; readonly body: any; readonly authorization: string | null }[] = [];
let reply: (body: any) => Response | Promise<Response> = () => Response.json({});
const service = new TlsService(async (request) => {
  const body = await request.json();
  heard.push({ path: new URL(request.url).pathname, body, authorization: request.headers.get("authorization") });
  return reply(body);
});
const kubeconfig = file("webhook.json", service.kubeconfig("/authorize", { token: "to-the-webhook" }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

beforeEach(() => {
  heard = [];
});
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const start = (options: ServerOptions) => TestServer.start({ tokenAuthFile, ...options });
const alice = { token: "alice-token" };
const review = (status: object) => (body: any) => Response.json({ ...body, status });

test("ABAC decides by its policy file", async () => {
  const spec = { user: "alice", namespace: "default", resource: "configmaps", apiGroup: "", readonly: true };
  const authorizationPolicyFile = file(
    "abac.jsonl",
    JSON.stringify({ apiVersion: "abac.authorization.kubernetes.io/v1beta1", kind: "Policy", spec }),
  );
  await using server = await start({ authorizationMode: ["ABAC"], authorizationPolicyFile });
  expect((await server.get("/api/v1/namespaces/default/configmaps", alice)).code).toBe(200);
  const { code, json } = await server.get("/api/v1/namespaces/kube-system/configmaps", alice);
  expect(code).toBe(403);
  expect(json.message).toEndWith(": No policy matched.");
});

describe("the webhook", () => {
  test("is asked with the whole question and our token, and its answer is kept", async () => {
    reply = review({ allowed: true, reason: "because" });
    await using server = await start({
      authorizationMode: ["Webhook"],
      authorizationWebhookConfigFile: kubeconfig,
      authorizationWebhookVersion: ["v1"],
    });
    expect((await server.get("/api/v1/namespaces/default/configmaps", alice)).code).toBe(200);
    expect((await server.get("/api/v1/namespaces/default/configmaps", alice)).code).toBe(200);
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({
      path: "/authorize",
      authorization: "Bearer to-the-webhook",
      body: {
        kind: "SubjectAccessReview",
        apiVersion: "authorization.k8s.io/v1",
        spec: {
          resourceAttributes: { namespace: "default", verb: "list", version: "v1", resource: "configmaps" },
          user: "alice",
          groups: ["team", "system:authenticated"],
          uid: "1",
        },
      },
    });
  });

  test("denies before other authorizers are asked, and leaves other requests to them", async () => {
    await using server = await start({
      authorizationMode: ["Webhook", "AlwaysAllow"],
      authorizationWebhookConfigFile: kubeconfig,
    });
    reply = review({ allowed: false, denied: true, reason: "not you" });
    const { code, json } = await server.get("/api/v1/nodes", alice);
    expect([code, json.message.endsWith(": not you")]).toEqual([403, true]);
    reply = review({ allowed: false });
    expect((await server.get("/api/v1/namespaces", alice)).code).toBe(200);
  });

  test("CVE-2022-3172: a redirect is not followed, and its body is not shown", async () => {
    await using server = await start({ authorizationMode: ["Webhook"], authorizationWebhookConfigFile: kubeconfig });
    reply = () =>
      new Response("inner-secret", {
        status: 302,
        headers: { location: `${service.url}/elsewhere` },
      });
    const { code, text } = await server.get("/api/v1/nodes", alice);
    expect(code).toBe(500);
    expect(text).not.toContain("inner-secret");
    expect(heard.map(({ path }) => path)).toEqual(["/authorize"]);
  });

  test("attack 20: an answer without end is cut off", async () => {
    await using server = await start({ authorizationMode: ["Webhook"], authorizationWebhookConfigFile: kubeconfig });
    reply = () => new Response("x".repeat(8 * 1024 * 1024));
    expect((await server.get("/api/v1/nodes", alice)).code).toBe(500);
  });
});

describe("the file of authorizers", () => {
  const configuration = (...authorizers: object[]) =>
    JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind: "AuthorizationConfiguration", authorizers });
  const webhook = (name: string, failurePolicy: string) => ({
    type: "Webhook",
    name,
    webhook: {
      timeout: "2s",
      subjectAccessReviewVersion: "v1",
      matchConditionSubjectAccessReviewVersion: "v1",
      failurePolicy,
      cacheUnauthorizedRequests: false,
      connectionInfo: { type: "KubeConfigFile", kubeConfigFile: kubeconfig },
    },
  });
  const rbac = { type: "RBAC", name: "rbac" };

  test("is followed; a broken one leaves the last one in force", async () => {
    const authorizationConfig = file("authorizers.json", configuration(rbac));
    await using server = await start({ authorizationConfig });
    const path = "/api/v1/namespaces/default/configmaps";
    expect((await server.get(path, alice)).code).toBe(403);
    expect(heard).toEqual([]);
    reply = review({ allowed: true });
    writeFileSync(authorizationConfig, configuration(webhook("first", "Deny"), rbac));
    await until(async () => (await server.get(path, alice)).code === 200);
    for (const broken of [
      "{",
      configuration(),
      configuration({ type: "AlwaysAllow", name: "all" }),
      configuration({ type: "Node", name: "n" }, rbac),
    ]) {
      writeFileSync(authorizationConfig, broken);
      await Bun.sleep(150);
      expect((await server.get("/api/v1/nodes", { token: "node-token" })).code).not.toBe(500);
      expect((await server.get(path, alice)).code).toBe(200);
    }
    writeFileSync(authorizationConfig, configuration(rbac));
    await until(async () => (await server.get(path, alice)).code === 403);
  });

  test("attack 30: a webhook that cannot answer denies or is passed over, as its policy says", async () => {
    reply = () => new Response(null, { status: 400 });
    const deny = await start({
      authorizationConfig: file("deny.json", configuration(webhook("w", "Deny"), { type: "AlwaysAllow", name: "all" })),
    });
    expect((await deny.get("/api/v1/nodes", alice)).code).toBe(403);
    await deny.close();
    const pass = await start({
      authorizationConfig: file(
        "pass.json",
        configuration(webhook("w", "NoOpinion"), { type: "AlwaysAllow", name: "all" }),
      ),
      anonymousAuth: false,
    });
    expect((await pass.get("/api/v1/nodes", alice)).code).toBe(200);
    await pass.close();
    const alone = await start({ authorizationConfig: file("alone.json", configuration(webhook("w", "NoOpinion"))) });
    expect((await alone.get("/api/v1/nodes", alice)).code).toBe(500);
    await alone.close();
  });

  test("refuses the start when it is wrong, or beside flags that say the same", async () => {
    await expect(start({ authorizationConfig: file("none.json", configuration()) })).rejects.toThrow(
      "at least one authorization mode must be defined",
    );
    await expect(start({ authorizationConfig: join(directory, "missing") })).rejects.toThrow(
      "--authorization-config: cannot read",
    );
    await expect(start({ authorizationConfig: tokenAuthFile, authorizationMode: ["RBAC"] })).rejects.toThrow(
      "can not be specified when --authorization-mode",
    );
  });
});

describe("attack 41: nodes", () => {
  test("read the objects that their pods use, and write only their own", async () => {
    await using server = await start({ authorizationMode: ["Node", "RBAC"] });
    const node = { token: "node-token" };
    const evil = { token: "evil-token" };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { a: "b" } };
    await server.create("/api/v1/namespaces/default/secrets", secret);
    expect((await server.get("/api/v1/namespaces/default/secrets/s", node)).code).toBe(403);
    await server.create(
      "/api/v1/namespaces/default/pods",
      pod("p", { nodeName: "n1", volumes: [{ name: "v", secret: { secretName: "s" } }] }),
    );
    expect((await server.get("/api/v1/namespaces/default/secrets/s", node)).code).toBe(200);
    const { code, json } = await server.get("/api/v1/namespaces/default/secrets/s", evil);
    expect(code).toBe(403);
    expect(json.message).toEndWith("no relationship found between node 'n2' and this object");

    const machine = { apiVersion: "v1", kind: "Node", metadata: { name: "n1" } };
    expect((await server.post("/api/v1/nodes", machine, node)).code).toBe(201);
    const foreign = await server.post("/api/v1/nodes", { ...machine, metadata: { name: "n3" } }, node);
    expect([foreign.code, foreign.json.message]).toEqual([
      403,
      'nodes "n3" is forbidden: node "n1" is not allowed to modify node "n3"',
    ]);
    const labels = await server.patch(
      "/api/v1/nodes/n1",
      "application/merge-patch+json",
      { metadata: { labels: { "node-restriction.kubernetes.io/x": "y" } } },
      node,
    );
    expect(labels.json.message).toContain("is not allowed to modify labels: node-restriction.kubernetes.io/x");
    const status = await server.patch(
      "/api/v1/namespaces/default/pods/p/status",
      "application/merge-patch+json",
      { status: { message: "m" } },
      evil,
    );
    expect(status.json.message).toContain(
      'node "n2" can only update pod status for pods with spec.nodeName set to itself',
    );
    expect((await server.post("/api/v1/namespaces/default/configmaps", configMap("c"), node)).code).toBe(403);
    expect((await server.get("/api/v1/pods?fieldSelector=spec.nodeName%3Dn1", node)).code).toBe(200);
    expect((await server.get("/api/v1/pods", node)).code).toBe(403);
  });
});

test("audit events reach a webhook in lists, and the rest when the server ends", async () => {
  reply = () => Response.json({});
  const policy = file(
    "policy.json",
    JSON.stringify({
      apiVersion: "audit.k8s.io/v1",
      kind: "Policy",
      omitStages: ["RequestReceived"],
      rules: [{ level: "Metadata" }],
    }),
  );
  const server = await start({
    auditPolicyFile: policy,
    auditWebhookConfigFile: kubeconfig,
    auditWebhookBatchMaxSize: 3,
  });
  for (let at = 0; at < 4; at++) await server.get(`/api/v1/namespaces/default/configmaps/none-${at}`);
  await until(() => heard.length > 0);
  expect(heard[0]?.body).toMatchObject({ kind: "EventList", items: { length: 3 } });
  await server.close();
  const uris = heard.flatMap(({ body }) => body.items.map(({ requestURI }: any) => requestURI));
  expect(uris).toEqual([0, 1, 2, 3].map((at) => `/api/v1/namespaces/default/configmaps/none-${at}`));
});
