import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeCbor } from "../../src/api/codec/cbor.ts";
import { wrapUnknown } from "../../src/api/codec/protobuf.ts";
import type { ServerOptions } from "../../src/index.ts";
import { until } from "../until.ts";
import { configMap, jsonPatch, protobuf, TestServer } from "./server.ts";

const directory = mkdtempSync(join(tmpdir(), "quorate-audit-"));
const shippedPolicy = join(import.meta.dir, "../../deploy/audit-policy.yaml");
const tokenAuthFile = join(directory, "tokens.csv");
writeFileSync(tokenAuthFile, "alice-canary-token,alice,1,team\n");
const servers: TestServer[] = [];
const canary = "canary-7f3a9";

afterAll(async () => {
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  rmSync(directory, { recursive: true });
});

/** A server that records to a file, and its records. */
async function recording(auditPolicyFile: string, options: ServerOptions = {}) {
  const auditLogPath = join(directory, `audit-${servers.length}.log`);
  const server = await TestServer.start({
    authorizationMode: ["RBAC"],
    tokenAuthFile,
    auditPolicyFile,
    auditLogPath,
    ...options,
  });
  servers.push(server);
  /** The events of one request, by its id. */
  const eventsOf = (id: string, count: number): Promise<any[]> => {
    const read = () => {
      const lines = readFileSync(auditLogPath, "utf8").split("\n").slice(0, -1);
      return lines.map((line) => JSON.parse(line)).filter(({ auditID }) => auditID === id);
    };
    return until(read, (events) => events.length >= count);
  };
  let ids = 0;
  const send = async (method: string, path: string, options: Parameters<TestServer["request"]>[2] = {}, count = 1) => {
    const id = `test-${servers.length}-${ids++}`;
    const answer = await server.request(method, path, { ...options, headers: { ...options.headers, "audit-id": id } });
    const events = await eventsOf(id, count);
    return { answer, events, event: events[0] };
  };
  return { server, send, eventsOf, text: () => readFileSync(auditLogPath, "utf8") };
}

function policy(name: string, rules: object[], more: object = {}): string {
  const file = join(directory, `${name}.json`);
  writeFileSync(file, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules, ...more }));
  return file;
}

const alice = { token: "alice-canary-token" };
const secret = (name: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData: { password: canary },
});
const configMaps = "/api/v1/namespaces/default/configmaps";

describe("attack 77: the shipped policy records every write and every denial exactly once", () => {
  let audited: Awaited<ReturnType<typeof recording>>;
  beforeAll(async () => {
    audited = await recording(shippedPolicy);
  });

  test("a create, with its user, object, decision and body", async () => {
    const service = { apiVersion: "v1", kind: "Namespace", metadata: { name: "audited" } };
    const { events, event } = await audited.send("POST", "/api/v1/namespaces?dryRun=All", {
      body: service,
      headers: { "user-agent": "test/1.0" },
    });
    expect(events).toHaveLength(1);
    expect(event).toMatchObject({
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: "Request",
      stage: "ResponseComplete",
      requestURI: "/api/v1/namespaces?dryRun=All",
      verb: "create",
      user: { username: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] },
      sourceIPs: ["127.0.0.1"],
      userAgent: "test/1.0",
      objectRef: { resource: "namespaces", name: "audited", apiVersion: "v1" },
      responseStatus: { metadata: {}, code: 201 },
      requestObject: service,
      annotations: { "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "" },
    });
    expect(event.responseObject).toBeUndefined();
    expect(event.requestReceivedTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  test("the object is named in every form of the answer, and after a rejection", async () => {
    const accept = { accept: protobuf };
    const created = await audited.send("POST", configMaps, { ...accept, body: configMap("named") });
    expect(created.event.objectRef).toEqual({
      resource: "configmaps",
      namespace: "default",
      name: "named",
      apiVersion: "v1",
    });
    const again = await audited.send("POST", configMaps, { ...accept, body: configMap("named") });
    expect([again.answer.code, again.event.objectRef.name]).toEqual([409, "named"]);
    const generated = await audited.send("POST", configMaps, { body: { metadata: { generateName: "made-" } } });
    expect(generated.event.objectRef.name).toBe(generated.answer.json.metadata.name);
    const { uid, resourceVersion } = (await audited.server.get(`${configMaps}/named`)).json.metadata;
    const body = { ...configMap("named"), metadata: { name: "named", uid, resourceVersion } };
    const updated = await audited.send("PUT", `${configMaps}/named`, { body });
    expect(updated.event.objectRef).toMatchObject({ name: "named", uid, resourceVersion });
  });

  test.each<[string, string, unknown]>([
    ["PUT", `${configMaps}/none`, configMap("none")],
    ["PATCH", `${configMaps}/none`, []],
    ["DELETE", `${configMaps}/none`, undefined],
    ["DELETE", `${configMaps}?labelSelector=a%3Db`, undefined],
    ["POST", configMaps, { kind: "Nonsense" }],
    ["POST", configMaps, "not json"],
    ["POST", "/no/such/path", undefined],
  ])("%s %s", async (method, path, body) => {
    const type = method === "PATCH" ? { type: jsonPatch } : {};
    const { answer, events, event } = await audited.send(method, path, {
      ...(body === undefined ? {} : { body }),
      ...type,
    });
    expect(events).toHaveLength(1);
    expect(event.responseStatus.code).toBe(answer.code);
  });

  test("a 403 names the user and the reason", async () => {
    const { answer, events, event } = await audited.send("GET", "/api/v1/namespaces/default/pods", alice);
    expect(answer.code).toBe(403);
    expect(events).toHaveLength(1);
    expect(event).toMatchObject({
      user: { username: "alice", uid: "1", groups: ["team", "system:authenticated"] },
      responseStatus: { status: "Failure", reason: "Forbidden", code: 403, message: answer.json.message },
      annotations: { "authorization.k8s.io/decision": "forbid" },
    });
  });

  test.each<[string, Parameters<TestServer["request"]>[2]]>([
    ["JSON", {}],
    ["JSON for a person", { headers: { "user-agent": "curl/8" } }],
    ["YAML", { accept: "application/yaml" }],
    ["protobuf", { accept: protobuf }],
  ])("a refusal is recorded with its reason, also when the client reads %s", async (_, options) => {
    const { event } = await audited.send("GET", `${configMaps}/none`, options);
    expect(event.responseStatus).toEqual({
      metadata: {},
      status: "Failure",
      message: 'configmaps "none" not found',
      reason: "NotFound",
      details: { name: "none", kind: "configmaps" },
      code: 404,
    });
  });

  test("a 401 has no user, and no part of the rejected credential", async () => {
    const { answer, events, event } = await audited.send("POST", configMaps, {
      body: configMap("x"),
      token: `${canary}-token`,
    });
    expect(answer.code).toBe(401);
    expect(events).toHaveLength(1);
    expect(event).toMatchObject({ user: {}, responseStatus: { code: 401, reason: "Unauthorized" } });
    expect(audited.text()).not.toContain(`${canary}-token`);
  });

  test("a request that cannot be read is recorded too", async () => {
    const { answer, events } = await audited.send("POST", "/api/%zz");
    expect([answer.code, events.length]).toEqual([400, 1]);
  });

  test("attack 25: an impersonated request shows both users, a rejected one only the requester", async () => {
    const { event } = await audited.send("GET", "/api/v1/nodes", {
      headers: { "impersonate-user": "bob", "impersonate-group": "devs" },
    });
    expect(event.user.username).toBe("kubernetes-admin");
    expect(event.impersonatedUser).toEqual({ username: "bob", groups: ["devs", "system:authenticated"] });
    expect(event.responseStatus.code).toBe(403);
    const refused = await audited.send("GET", "/api/v1/nodes", { ...alice, headers: { "impersonate-user": "bob" } });
    expect(refused.event.user.username).toBe("alice");
    expect(refused.event.impersonatedUser).toBeUndefined();
  });

  test("attack 72: secrets, tokens and reviews are recorded without their content", async () => {
    const secrets = "/api/v1/namespaces/default/secrets";
    await audited.send("POST", secrets, { body: secret("s") });
    await audited.send("PUT", `${secrets}/s`, { body: secret("s") });
    await audited.send("PATCH", `${secrets}/s`, {
      body: { stringData: { more: canary } },
      type: "application/merge-patch+json",
    });
    await audited.send("GET", `${secrets}/s`);
    await audited.send("GET", secrets);
    await audited.send("DELETE", `${secrets}/s`);
    await audited.send("POST", configMaps, { body: { ...configMap("c"), data: { password: canary } } });
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: canary } };
    await audited.send("POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body: review });
    expect(audited.text()).not.toContain(canary);
    expect(audited.text()).not.toContain("alice-canary-token");
  });

  test("an apply is recorded as the patch that it is", async () => {
    const document = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "applied" } };
    const path = `${configMaps}/applied?fieldManager=a&force=true`;
    const { event } = await audited.send("PATCH", path, { body: document, type: "application/apply-patch+yaml" });
    expect(event.verb).toBe("patch");
    expect(event.requestURI).toBe(path);
    expect(event.objectRef).toMatchObject({ resource: "configmaps", name: "applied" });
    expect(event.responseStatus.code).toBe(201);
  });

  test("attack 77: an id that could break the line is not taken over", async () => {
    const answer = await audited.server.get("/version", { headers: { "audit-id": 'a"b' } });
    expect(answer.headers.get("audit-id")).not.toContain('"');
  });

  test("a watch is recorded when it ends", async () => {
    const watch = await audited.server.watch(`${configMaps}?timeoutSeconds=1`, {
      headers: { "audit-id": "the-watch" },
    });
    await watch.rest();
    const events = await audited.eventsOf("the-watch", 1);
    expect(events.map(({ stage, verb }) => `${stage} ${verb}`)).toEqual(["ResponseComplete watch"]);
    expect(events[0].annotations["apiserver.latency.k8s.io/total"]).toMatch(/^1(\.\d+)?s$/);
  });
});

test("attack 77: a watch whose client goes away, and a body that never comes, are recorded once", async () => {
  const audited = await recording(shippedPolicy, { requestTimeoutMs: 300 });
  const watch = await audited.server.watch(configMaps, { headers: { "audit-id": "left" } });
  await watch[Symbol.asyncDispose]();
  expect(await audited.eventsOf("left", 1)).toMatchObject([
    { verb: "watch", stage: "ResponseComplete", responseStatus: { code: 200 } },
  ]);

  const session = audited.server.http2();
  const stream = session.request({
    ":method": "POST",
    ":path": configMaps,
    authorization: `Bearer ${audited.server.running.token}`,
    "content-type": "application/json",
    "audit-id": "late",
  });
  stream.on("error", () => {});
  stream.write("{");
  const events = await audited.eventsOf("late", 1);
  expect(events).toMatchObject([{ verb: "create", responseStatus: { code: 504 } }]);
  session.destroy();
});

describe("levels and stages", () => {
  let audited: Awaited<ReturnType<typeof recording>>;
  beforeAll(async () => {
    const rules = [
      { level: "None", users: ["alice"], verbs: ["get"] },
      { level: "RequestResponse", resources: [{ group: "", resources: ["configmaps"] }], omitManagedFields: true },
      { level: "Metadata", omitStages: ["RequestReceived"] },
    ];
    audited = await recording(policy("everything", rules), { featureGates: { CBORServingAndStorage: true } });
  });

  test("each stage of a request, and of a watch", async () => {
    const { events } = await audited.send("GET", `${configMaps}/none`, {}, 2);
    expect(events.map(({ stage }) => stage)).toEqual(["RequestReceived", "ResponseComplete"]);
    expect(events[0].responseStatus).toBeUndefined();
    const watch = await audited.server.watch(`${configMaps}?timeoutSeconds=1`, { headers: { "audit-id": "watched" } });
    await watch.rest();
    const watched = await audited.eventsOf("watched", 3);
    expect(watched.map(({ stage }) => stage)).toEqual(["RequestReceived", "ResponseStarted", "ResponseComplete"]);
  });

  test("a refused watch has started its response; a failed authentication only starts it", async () => {
    const { answer, events } = await audited.send("GET", `${configMaps}?watch=1&resourceVersion=x`, {}, 3);
    expect(events.map(({ stage }) => stage)).toEqual(["RequestReceived", "ResponseStarted", "ResponseComplete"]);
    for (const { responseObject } of events.slice(1)) expect(responseObject).toEqual(answer.json);
    const rejected = await audited.send("GET", configMaps, { token: "wrong" });
    expect([rejected.answer.code, rejected.event.stage]).toEqual([401, "ResponseStarted"]);
    expect(rejected.event.responseObject).toEqual(rejected.answer.json);
  });

  test("both bodies, as they were, without managed fields", async () => {
    const body = { ...configMap("both"), data: { a: "1\n2" } };
    const { answer, events } = await audited.send("POST", configMaps, { body: JSON.stringify(body, null, 2) }, 2);
    const { managedFields, ...metadata } = answer.json.metadata;
    expect(managedFields).toBeDefined();
    expect(events[1].requestObject).toEqual(body);
    expect(events[1].responseObject).toEqual({ ...answer.json, metadata });
    const list = await audited.send("GET", configMaps, {}, 2);
    expect(list.events[1].responseObject.items.length).toBe(list.answer.json.items.length);
  });

  test("YAML and protobuf are recorded as JSON", async () => {
    const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: from-yaml\n";
    const { answer, events } = await audited.send(
      "POST",
      configMaps,
      { body: yaml, type: "application/yaml", accept: protobuf },
      2,
    );
    expect(answer.headers.get("content-type")).toBe(protobuf);
    expect(events[1].requestObject).toEqual({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "from-yaml" } });
    expect(events[1].responseObject).toMatchObject({ kind: "ConfigMap", metadata: { name: "from-yaml" } });
  });

  test("a body is recorded however its type is written", async () => {
    const type = "Application/JSON; charset=utf-8";
    const { events } = await audited.send("POST", configMaps, { body: configMap("capitals"), type }, 2);
    expect(events[1].requestObject).toMatchObject({ metadata: { name: "capitals" } });
  });

  const many = Array.from({ length: 100_000 }, (_, at) => at);
  test.each([
    ["JSON", "application/json", JSON.stringify({ many })],
    ["YAML", "application/yaml", many.map((at) => `- ${at}\n`).join("")],
    ["CBOR", "application/cbor", encodeCbor({ many })],
    ["protobuf", protobuf, wrapUnknown({ apiVersion: "v1", kind: "ConfigMap" }, new Uint8Array(200_000).fill(0x78))],
  ])("%s of more values than the server takes is not parsed for its event", async (_form, type, body) => {
    const { answer, events } = await audited.send("POST", configMaps, { body, type }, 2);
    expect(answer.code).toBe(413);
    expect(events[1]).toMatchObject({ responseStatus: { code: 413 } });
    expect(events[1].requestObject).toBeUndefined();
  });

  test("the first rule that matches decides, None records nothing", async () => {
    const answer = await audited.server.get("/apis", { ...alice, headers: { "audit-id": "unheard" } });
    expect(answer.code).toBe(200);
    await audited.send("GET", "/version");
    expect(audited.text()).not.toContain("unheard");
  });
});

test("limits: an event goes without its bodies, and is dropped when that is not enough", async () => {
  const limited = { auditLogTruncateEnabled: true, auditLogTruncateMaxEventSize: 3_000 };
  const { server, send, text } = await recording(policy("bodies", [{ level: "RequestResponse" }]), limited);
  const body = { ...configMap("large"), data: { a: "x".repeat(4_000) } };
  const { answer, events } = await send("POST", configMaps, { body }, 2);
  expect(answer.code).toBe(201);
  expect(events[1]).toMatchObject({
    level: "RequestResponse",
    stage: "ResponseComplete",
    responseStatus: { code: 201 },
    annotations: { "audit.k8s.io/truncated": "true" },
  });
  expect([events[1].requestObject, events[1].responseObject]).toEqual([undefined, undefined]);
  const small = await send("POST", configMaps, { body: configMap("small") }, 2);
  expect(small.events[1].responseObject.metadata.name).toBe("small");
  const path = `/version?${"x".repeat(4_000)}`;
  expect((await server.get(path)).code).toBe(200);
  await send("GET", "/version", {}, 2);
  expect(text()).not.toContain("xxxx");
  const metrics = (await server.get("/metrics")).text;
  expect(metrics).toMatch(/^apiserver_audit_error_total\{plugin="truncate"\} 2$/m);
});

test("the format legacy has one line of text for each event", async () => {
  const auditLogPath = join(directory, "legacy.log");
  const auditPolicyFile = policy("legacy", [{ level: "Request" }], { omitStages: ["RequestReceived"] });
  const server = await TestServer.start({ auditPolicyFile, auditLogPath, auditLogFormat: ["legacy"] });
  servers.push(server);
  await server.get("/api/v1/namespaces/default/pods", { headers: { "user-agent": "t/1" } });
  expect(
    await until(
      () => readFileSync(auditLogPath, "utf8"),
      (text) => text.includes('user-agent="t/1"'),
    ),
  ).toMatch(
    /^\S+Z AUDIT: id="[\w-]+" stage="ResponseComplete" ip="127.0.0.1" method="list" user="kubernetes-admin" groups=".+" as="<self>" asgroups="<lookup>" user-agent="t\/1" namespace="default" uri="\/api\/v1\/namespaces\/default\/pods" response="200"$/m,
  );
});

test("a policy that cannot be used refuses the start", async () => {
  const start = (auditPolicyFile: string) => TestServer.start({ auditPolicyFile, auditLogPath: "-" });
  await expect(start(policy("empty", []))).rejects.toThrow("at least one rule");
  await expect(start(policy("unknown", [{ level: "Metadata", verb: ["get"] }]))).rejects.toThrow(
    "rules[0].verb: Invalid value: unknown field",
  );
  await expect(start(join(directory, "missing.yaml"))).rejects.toThrow("--audit-policy-file");
});
