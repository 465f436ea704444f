import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { until } from "../../until.ts";
import { configMap, mergePatch, pod, TestServer } from "../server.ts";

/** Tests that one user's actions do not affect another: through caches, owners, a dry run, or a registered API. */
const directory = mkdtempSync(join(tmpdir(), "quorate-tenants-"));
const auditLogPath = join(directory, "audit.log");
const rbac = "/apis/rbac.authorization.k8s.io/v1";
const userKind = { kind: "User", apiGroup: "rbac.authorization.k8s.io" };
const clusterRole = (name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name });
let server: TestServer;

beforeAll(async () => {
  const tokenAuthFile = join(directory, "tokens.csv");
  const auditPolicyFile = join(directory, "policy.json");
  writeFileSync(tokenAuthFile, "alice-token,alice,1\nbob-token,bob,2\nnobody-token,nobody,3\n");
  const rules = [{ level: "Metadata", omitStages: ["RequestReceived"] }];
  writeFileSync(auditPolicyFile, JSON.stringify({ apiVersion: "audit.k8s.io/v1", kind: "Policy", rules }));
  server = await TestServer.start({
    authorizationMode: ["RBAC"],
    enableAdmissionPlugins: ["OwnerReferencesPermissionEnforcement"],
    tokenAuthFile,
    auditPolicyFile,
    auditLogPath,
  });
  // Alice owns namespace a, and Bob owns b, as tenants of a cluster do.
  for (const [namespace, name] of [
    ["a", "alice"],
    ["b", "bob"],
  ] as const) {
    await server.create("/api/v1/namespaces", { metadata: { name: namespace } });
    const subjects = [{ ...userKind, name }];
    const binding = { metadata: { name: "admin" }, subjects, roleRef: clusterRole("admin") };
    await server.create(`${rbac}/namespaces/${namespace}/rolebindings`, binding);
    // Large enough to be compressed.
    for (let at = 0; at < 100; at++) {
      const data = { owner: name, text: `${name} `.repeat(500) };
      await server.create(configMaps(namespace), { ...configMap(`c${at}`), data });
    }
  }
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const configMaps = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;
const alice = { token: "alice-token" };
const bob = { token: "bob-token" };

describe("attack 39: data cached for one user is not given to another", () => {
  test.each([
    configMaps("a"),
    `${configMaps("a")}?resourceVersion=0`,
    `${configMaps("a")}/c1`,
    `${configMaps("a")}?limit=1`,
  ])("an answer: %s", async (path) => {
    for (let round = 0; round < 2; round++) {
      expect((await server.get(path, alice)).code).toBe(200);
      const refused = await server.get(path, bob);
      expect(refused.code).toBe(403);
      expect(refused.text).not.toContain("alice ");
    }
  });

  test("an answer of a user is for that user's eyes, and for this form", async () => {
    const { headers } = await server.get(configMaps("a"), { ...alice, headers: { "accept-encoding": "gzip" } });
    expect(headers.get("cache-control")).toBe("no-cache, private");
    expect(headers.get("vary")).toContain("Accept-Encoding");
  });

  test.each(["/openapi/v2", "/openapi/v3", "/openapi/v3/api/v1", "/apis"])(
    "a document whose tag somebody else has told: %s",
    async (path) => {
      const accept =
        path === "/apis" ? { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" } : {};
      const { code, headers } = await server.get(path, { ...alice, ...accept });
      const etag = headers.get("etag") ?? "";
      expect([code, etag.length > 10]).toEqual([200, true]);
      const headersOfBob = { "if-none-match": etag };
      expect((await server.get(path, { ...bob, ...accept, headers: headersOfBob })).code).toBe(304);
      const anonymous = await server.get(path, { token: "", ...accept, headers: headersOfBob });
      expect(anonymous.code).toBe(403);
      expect((await server.get(path, { token: "wrong", ...accept, headers: headersOfBob })).code).toBe(401);
    },
  );

  test("users that take turns on one connection keep their identity", async () => {
    const session = server.http2();
    const review = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" });
    const ask = (token: string) =>
      new Promise<string>((resolve, reject) => {
        const stream = session.request({
          ":method": "POST",
          ":path": "/apis/authentication.k8s.io/v1/selfsubjectreviews",
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
        });
        const chunks: Buffer[] = [];
        stream.on("data", (chunk: Buffer) => chunks.push(chunk)).on("error", reject);
        stream.on("end", () => resolve(JSON.parse(Buffer.concat(chunks).toString()).status.userInfo.username));
        stream.end(review);
      });
    const names = Array.from({ length: 60 }, (_, at) => (["alice", "bob", "nobody"] as const)[at % 3] as string);
    expect(await Promise.all(names.map((name) => ask(`${name}-token`)))).toEqual(names);
    session.destroy();
  });

  test("attack 64: compressed bytes do not depend on earlier answers", async () => {
    const headers = { "accept-encoding": "gzip" };
    // All pages are of one revision and exclude later writes.
    const at = `resourceVersion=${await server.revision()}&resourceVersionMatch=Exact`;
    const zipped = async (namespace: string, as: typeof alice) =>
      (await server.get(`${configMaps(namespace)}?${at}`, { ...as, headers })).bytes;
    const before = await zipped("b", bob);
    await Promise.all(Array.from({ length: 5 }, () => zipped("a", alice)));
    const [after] = await Promise.all([zipped("b", bob), zipped("a", alice)]);
    expect(Buffer.compare(before, after as Uint8Array)).toBe(0);
    expect(gunzipSync(after as Uint8Array).toString()).not.toContain("alice ");
  });

  test("a review of one user's rights does not answer for another's", async () => {
    const review = { spec: { resourceAttributes: { namespace: "a", verb: "get", resource: "secrets" } } };
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const allowed = async (as: typeof alice) => (await server.post(path, review, as)).json.status.allowed;
    expect([await allowed(alice), await allowed(bob), await allowed(alice)]).toEqual([true, false, true]);
  });
});

describe("attack 42: owners and finalizers", () => {
  const reference = (owner: any, more: object = {}) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    name: owner.metadata.name,
    uid: owner.metadata.uid,
    ...more,
  });
  const owned = (name: string, ...ownerReferences: object[]) => ({
    ...configMap(name),
    metadata: { name, ownerReferences },
  });

  test("a user who may not delete an object cannot set its owner, nor delay the owner's deletion without permission", async () => {
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "update", "patch"] }];
    await server.create(`${rbac}/clusterroles`, { metadata: { name: "writer" }, rules });
    const deletes = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "update", "patch", "delete"] }];
    await server.create(`${rbac}/clusterroles`, { metadata: { name: "deleter" }, rules: deletes });
    const bind = async (name: string) => {
      const binding = { metadata: { name }, subjects: [{ ...userKind, name: "nobody" }], roleRef: clusterRole(name) };
      await server.create(`${rbac}/namespaces/a/rolebindings`, binding);
    };
    const nobody = { token: "nobody-token" };
    const owner = await server.create(configMaps("a"), configMap("owner"));
    await server.create(configMaps("a"), configMap("plain"));
    const patch = (name: string, owners: object[]) =>
      server.patch(`${configMaps("a")}/${name}`, mergePatch, { metadata: { ownerReferences: owners } }, nobody);

    await bind("writer");
    const refused = await server.post(configMaps("a"), owned("o1", reference(owner)), nobody);
    expect([refused.code, refused.json.message]).toEqual([
      403,
      expect.stringContaining("cannot set an ownerRef on a resource you can't delete"),
    ]);
    expect((await patch("plain", [reference(owner)])).code).toBe(403);
    await bind("deleter");
    const blocking = reference(owner, { blockOwnerDeletion: true });
    const held = await server.post(configMaps("a"), owned("o1", blocking), nobody);
    expect([held.code, held.json.message]).toEqual([
      403,
      expect.stringContaining("cannot set blockOwnerDeletion if an ownerReference refers to a resource"),
    ]);
    // The same without blocking it, and then through a patch.
    expect((await server.post(configMaps("a"), owned("o1", reference(owner)), nobody)).code).toBe(201);
    expect((await patch("o1", [blocking])).code).toBe(403);
    expect((await server.get(`${configMaps("a")}/o1`)).json.metadata.ownerReferences).toEqual([reference(owner)]);
  });

  test("an owner in another namespace does not count: neither object reaches the other", async () => {
    const owner = await server.create(configMaps("a"), configMap("far-owner"));
    const dependent = owned("far", reference(owner, { blockOwnerDeletion: false }));
    expect((await server.post(configMaps("b"), dependent, bob)).code).toBe(201);
    expect((await server.delete(`${configMaps("b")}/far`, undefined, bob)).code).toBe(200);
    expect((await server.get(`${configMaps("a")}/far-owner`)).json.metadata.uid).toBe(owner.metadata.uid);
    expect((await server.get(`${configMaps("a")}/far-owner`, bob)).code).toBe(403);
  });

  test.each([
    ["no uid", { uid: "" }],
    ["no kind", { kind: "" }],
    ["an Event as owner", { kind: "Event" }],
  ])("a reference with %s is refused", async (_, broken) => {
    const owner = { metadata: { name: "x", uid: "u" } };
    expect((await server.post(configMaps("a"), owned("broken", reference(owner, broken)))).code).toBe(422);
  });

  test("objects that own each other can be deleted, alone and with their namespace", async () => {
    const namespace = await server.namespace();
    const path = configMaps(namespace);
    const circle = async (first: string, second: string) => {
      const one = await server.create(path, configMap(first));
      const two = await server.create(path, owned(second, reference(one, { blockOwnerDeletion: true })));
      const back = { metadata: { ownerReferences: [reference(two, { blockOwnerDeletion: true })] } };
      expect((await server.patch(`${path}/${first}`, mergePatch, back)).code).toBe(200);
      const self = { metadata: { ownerReferences: [reference(two, { blockOwnerDeletion: true })] } };
      expect((await server.patch(`${path}/${second}`, mergePatch, self)).code).toBe(200);
    };
    await circle("one", "two");
    const background = { kind: "DeleteOptions", apiVersion: "v1", propagationPolicy: "Background" };
    expect((await server.delete(`${path}/one`, background)).code).toBe(200);
    expect((await server.get(`${path}/one`)).code).toBe(404);
    await circle("three", "four");
    await server.delete(`/api/v1/namespaces/${namespace}`);
    await until(async () => (await server.get(`/api/v1/namespaces/${namespace}`)).code === 404);
  });
});

describe("attack 43: a dry run leaves nothing behind", () => {
  test("no object, no quota, no event; and it is recorded", async () => {
    const hard = { "count/configmaps": "500", pods: "5" };
    await server.create("/api/v1/namespaces/a/resourcequotas", { metadata: { name: "q" }, spec: { hard } });
    const quota = async () => (await server.get("/api/v1/namespaces/a/resourcequotas/q")).json.status?.used;
    const before = await until(quota, (used) => used?.["count/configmaps"] !== undefined);
    const from = await server.revision();
    await using watch = await server.watch(`${configMaps("a")}?resourceVersion=${from}&timeoutSeconds=1`);
    const dry = { ...alice, headers: { "audit-id": "dry-run" } };
    expect((await server.post(`${configMaps("a")}?dryRun=All`, configMap("dry"), dry)).code).toBe(201);
    expect((await server.post("/api/v1/namespaces/a/pods?dryRun=All", pod("dry"), alice)).code).toBe(201);
    expect((await server.delete(`${configMaps("a")}/c1?dryRun=All`, undefined, alice)).code).toBe(200);
    const change = { data: { owner: "other" } };
    expect((await server.patch(`${configMaps("a")}/c2?dryRun=All`, mergePatch, change, alice)).code).toBe(200);
    expect(await quota()).toEqual(before);
    expect((await server.get("/api/v1/namespaces/a/pods")).json.items).toEqual([]);
    expect((await server.get(`${configMaps("a")}/dry`)).code).toBe(404);
    expect((await server.get(`${configMaps("a")}/c2`)).json.data.owner).toBe("alice");
    expect(await watch.rest()).toEqual([]);
    const events = readFileSync(auditLogPath, "utf8")
      .split("\n")
      .filter((line) => line.includes('"dry-run"'));
    expect(events.map((line) => JSON.parse(line).requestURI)).toEqual([`${configMaps("a")}?dryRun=All`]);
  });
});

describe("attack 44: a registered API replaces nothing and is a matter of administrators", () => {
  const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
  const apiService = (group: string, spec: object = {}) => ({
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `v1.${group}` },
    spec: {
      group,
      version: "v1",
      groupPriorityMinimum: 20_000,
      versionPriority: 100,
      service: { namespace: "b", name: "stolen", port: 443 },
      ...spec,
    },
  });

  test.each([
    [apiServices, apiService("tenant.example.com")],
    ["/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", { metadata: { name: "w" } }],
    ["/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", { metadata: { name: "w" } }],
    ["/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", { metadata: { name: "w" } }],
    ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", { metadata: { name: "w" } }],
  ])("an administrator of a namespace does not create %s", async (path, body) => {
    expect((await server.post(path, body, alice)).code).toBe(403);
    expect((await server.get(path, alice)).code).toBe(403);
  });

  test.each([
    ["insecureSkipTLSVerify beside a caBundle", { insecureSkipTLSVerify: true, caBundle: btoa("x") }],
    ["a service without a namespace", { service: { name: "s" } }],
    ["a group that is not its name's", { group: "other.example.com" }],
  ])("%s is refused", async (_, spec) => {
    expect((await server.post(apiServices, apiService("bad.example.com", spec))).code).toBe(422);
  });

  test("a built-in group cannot be replaced, and other servers do not get its requests", async () => {
    let connections = 0;
    const elsewhere = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
    const { port } = elsewhere.address() as { port: number };
    const service = { metadata: { name: "stolen" }, spec: { ports: [{ port: 443, targetPort: port }] } };
    await server.create("/api/v1/namespaces/b/services", service);
    const groups = async () => (await server.get("/apis")).json.groups.map(({ name }: { name: string }) => name);
    const before = await groups();
    for (const group of ["apps", "rbac.authorization.k8s.io", "authentication.k8s.io"]) {
      const registered = apiService(group, { insecureSkipTLSVerify: true });
      const { code } = await server.post(apiServices, registered);
      expect([201, 409]).toContain(code);
      if (code === 409) expect((await server.get(`${apiServices}/v1.${group}`)).json.spec.service).toBeUndefined();
    }
    expect((await server.get("/apis/apps/v1/namespaces/a/deployments", alice)).json.kind).toBe("DeploymentList");
    expect((await server.get("/apis/apps/v1/namespaces/a/deployments", bob)).code).toBe(403);
    const review = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    const who = await server.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", review, alice);
    expect(who.json.status.userInfo.username).toBe("alice");
    expect(await groups()).toEqual(before);
    expect(connections).toBe(0);
    elsewhere.close();
  });
});
