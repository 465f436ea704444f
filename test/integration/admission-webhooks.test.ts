import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { timeoutsMax } from "../../src/admission/webhook/circuit-breaker.ts";
import { startServerOn } from "../../src/server/server.ts";
import { MemoryStore } from "../../src/storage/memory-store.ts";
import { TestServer } from "./server.ts";
import { TlsService } from "./tls-service.ts";

// A server and a real webhook over HTTPS. The last segment of the path selects the webhook's behaviour.
let server: TestServer;
let hook: TlsService;
const configurations = "/apis/admissionregistration.k8s.io/v1";
const configMaps = "/api/v1/namespaces/hooked/configmaps";

interface Seen {
  readonly path: string;
  readonly query: string;
  readonly review: any;
}
let seen: Seen[] = [];

beforeAll(async () => {
  server = await TestServer.start();
  hook = new TlsService(async (request) => {
    const { pathname, search } = new URL(request.url);
    const review: any = await request.json();
    seen.push({ path: pathname, query: search, review });
    return answerTo(pathname.slice(pathname.lastIndexOf("/") + 1), review);
  });
  await server.create("/api/v1/namespaces", { metadata: { name: "hooked", labels: { hooked: "yes" } } });
});

beforeEach(async () => {
  for (const kind of ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]) {
    await server.delete(`${configurations}/${kind}`);
  }
  await server.delete(configMaps);
  seen = [];
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await hook[Symbol.asyncDispose]();
});

function answerTo(behaviour: string, { apiVersion, request }: any): Response | Promise<Response> {
  const say = (response: object) =>
    Response.json({ apiVersion, kind: "AdmissionReview", response: { uid: request.uid, allowed: true, ...response } });
  const patched = (...operations: object[]) => say({ patchType: "JSONPatch", patch: btoa(JSON.stringify(operations)) });
  switch (behaviour) {
    case "allow":
      return say({ warnings: ["careful"], auditAnnotations: { k: "v" } });
    case "deny":
      return say({ allowed: false, status: { message: "not today", code: 422, reason: "Invalid" } });
    case "label":
      return patched({ op: "add", path: "/metadata/labels", value: { by: "hook" } });
    case "rename":
      return patched({ op: "replace", path: "/metadata/name", value: "renamed" });
    case "count":
      return patched({ op: "add", path: "/data/count", value: `${Number(request.object.data.count ?? 0) + 1}` });
    case "outside":
      return patched({ op: "remove", path: "/nothing/here" });
    case "wrongtype":
      return patched({ op: "replace", path: "/data", value: 5 });
    case "uid":
      return say({ uid: "other" });
    case "pod":
      return Response.json({ apiVersion: "v1", kind: "Pod" });
    case "large":
      return new Response(new Uint8Array(100 * 1024 * 1024));
    case "redirect":
      return new Response(null, { status: 307, headers: { location: `${hook.url}/allow` } });
    case "hang":
      return new Promise<Response>(() => undefined);
    default:
      return new Response("broken", { status: 500, headers: { "content-type": "text/plain" } });
  }
}

const rule = { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["configmaps", "deployments"] };

function webhook(behaviour: string, changes: object = {}): object {
  return {
    name: `${behaviour}.example.com`,
    clientConfig: { url: `${hook.url}/${behaviour}`, caBundle: btoa(hook.ca) },
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    namespaceSelector: { matchLabels: { hooked: "yes" } },
    rules: [rule],
    ...changes,
  };
}

async function configure(type: "mutating" | "validating", name: string, ...webhooks: object[]): Promise<void> {
  const kind = type === "mutating" ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
  const body = { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name }, webhooks };
  await server.create(`${configurations}/${type}webhookconfigurations`, body);
}

const configMap = (name: string, data: object = { a: "1" }) => ({ metadata: { name }, data });

test("a webhook is asked as soon as its configuration is acknowledged, with everything it may want to know", async () => {
  await configure("validating", "v", webhook("allow", { timeoutSeconds: 7 }));
  const { code, headers } = await server.post(`${configMaps}?dryRun=All&fieldManager=fm`, configMap("c"));
  expect([code, headers.get("warning")]).toEqual([201, '299 - "careful"']);
  expect(seen).toMatchObject([
    {
      path: "/allow",
      query: "?timeout=7s",
      review: {
        apiVersion: "admission.k8s.io/v1",
        kind: "AdmissionReview",
        request: {
          kind: { group: "", version: "v1", kind: "ConfigMap" },
          resource: { group: "", version: "v1", resource: "configmaps" },
          requestKind: { group: "", version: "v1", kind: "ConfigMap" },
          requestResource: { group: "", version: "v1", resource: "configmaps" },
          name: "c",
          namespace: "hooked",
          operation: "CREATE",
          object: { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "c" }, data: { a: "1" } },
          oldObject: null,
          dryRun: true,
          options: { kind: "CreateOptions", apiVersion: "meta.k8s.io/v1", dryRun: ["All"], fieldManager: "fm" },
        },
      },
    },
  ]);
  await server.create(configMaps, configMap("c"));
  await server.put(`${configMaps}/c`, configMap("c", { a: "2" }));
  await server.delete(`${configMaps}/c`);
  const operations = seen.slice(2).map(({ review: { request } }) => [request.operation, request.oldObject.data.a]);
  expect(operations).toEqual([
    ["UPDATE", "1"],
    ["DELETE", "2"],
  ]);
  await server.delete(`${configurations}/validatingwebhookconfigurations/v`);
  const before = seen.length;
  await server.create(configMaps, configMap("c"));
  expect(seen.length).toBe(before);
});

test("a refusal has the status of the webhook and names it", async () => {
  await configure("validating", "v", webhook("deny"));
  const { code, json } = await server.post(configMaps, configMap("c"));
  expect(code).toBe(422);
  expect(json).toMatchObject({
    reason: "Invalid",
    message: 'admission webhook "deny.example.com" denied the request: not today',
  });
});

test("mutating webhooks build on each other, and those that ask for it are called again", async () => {
  const again = { reinvocationPolicy: "IfNeeded" };
  await configure("mutating", "a", webhook("count", again), webhook("label"));
  const created = await server.create(configMaps, configMap("c", { a: "1" }));
  expect(created).toMatchObject({ metadata: { labels: { by: "hook" } }, data: { a: "1", count: "2" } });
  expect(seen.map(({ path }) => path)).toEqual(["/count", "/label", "/count"]);
});

test("an object that a webhook renames is stored under its new name only", async () => {
  await server.create(`${configurations}/mutatingwebhookconfigurations`, {
    metadata: { name: "m" },
    webhooks: [webhook("rename", { rules: [{ ...rule, operations: ["CREATE"] }] })],
  });
  const apply = (name: string) =>
    server.patch(`${configMaps}/${name}?fieldManager=a`, "application/apply-patch+yaml", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name },
    });
  const names = async () => (await server.get(configMaps)).json.items.map(({ metadata }: any) => metadata.name);
  expect((await apply("one")).json.metadata.name).toBe("renamed");
  expect(await names()).toEqual(["renamed"]);
  // kube-apiserver stores a second object named "renamed" under the key of "two". Here, names are unique.
  expect((await apply("two")).json.message).toBe('configmaps "renamed" already exists');
  expect(await names()).toEqual(["renamed"]);
});

test("an equivalent rule gets the object in the version that it asks for", async () => {
  const autoscaling = {
    ...rule,
    apiGroups: ["autoscaling"],
    apiVersions: ["v1"],
    resources: ["horizontalpodautoscalers"],
  };
  await configure("validating", "v", webhook("allow", { rules: [autoscaling] }));
  const target = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
  const metric = {
    type: "Resource",
    resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 50 } },
  };
  const hpa = { metadata: { name: "h" }, spec: { maxReplicas: 2, scaleTargetRef: target, metrics: [metric] } };
  await server.create("/apis/autoscaling/v2/namespaces/hooked/horizontalpodautoscalers", hpa);
  expect(seen).toMatchObject([
    {
      review: {
        request: {
          kind: { version: "v1" },
          requestKind: { version: "v2" },
          object: { apiVersion: "autoscaling/v1", spec: { targetCPUUtilizationPercentage: 50 } },
        },
      },
    },
  ]);
  await configure("validating", "exact", webhook("deny", { rules: [autoscaling], matchPolicy: "Exact" }));
  await server.create("/apis/autoscaling/v2/namespaces/hooked/horizontalpodautoscalers", {
    ...hpa,
    metadata: { name: "h2" },
  });
});

test("conditions, selectors and the rules of the group itself decide which webhooks are called", async () => {
  const matchConditions = [{ name: "n", expression: "object.metadata.name.startsWith('asked')" }];
  await configure("validating", "c", webhook("deny", { matchConditions }));
  expect((await server.post(configMaps, configMap("asked"))).code).toBe(422);
  expect((await server.post(configMaps, configMap("other"))).code).toBe(201);
  const all = { ...rule, resources: ["*/*"] };
  await configure("validating", "everything", webhook("deny", { rules: [all], namespaceSelector: {} }));
  expect((await server.post("/api/v1/namespaces", { metadata: { name: "x" } })).code).toBe(422);
  const own = `${configurations}/validatingwebhookconfigurations/everything`;
  expect((await server.delete(own)).code).toBe(200);
});

test("Exec and other connections are asked about, with their options", async () => {
  const connect = { ...rule, operations: ["CONNECT"], resources: ["pods/exec"] };
  await configure("validating", "v", webhook("deny", { rules: [connect] }));
  const { code } = await server.post("/api/v1/namespaces/hooked/pods/p/exec?command=ls&container=c", undefined);
  expect(code).toBe(422);
  expect(seen).toMatchObject([
    {
      review: {
        request: {
          operation: "CONNECT",
          subResource: "exec",
          kind: { kind: "PodExecOptions" },
          resource: { resource: "pods" },
          object: { kind: "PodExecOptions", apiVersion: "v1", container: "c", command: ["ls"] },
          oldObject: null,
        },
      },
    },
  ]);
});

const call = (behaviour: string) => `Internal error occurred: failed calling webhook "${behaviour}.example.com": `;

test.each([
  ["error", 'failed to call webhook: an error on the server ("broken") has prevented the request from succeeding'],
  ["uid", /received invalid webhook response: expected response.uid="[-0-9a-f]{36}", got "other"$/],
  ["pod", 'failed to call webhook: no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"'],
  [
    "large",
    /failed to call webhook: Post "https:\/\/localhost:[0-9]+\/large\?timeout=5s": the answer is longer than [0-9]+ bytes$/,
  ],
  [
    "redirect",
    "failed to call webhook: the server responded with the status code 307 but did not return more information",
  ],
  ["hang", /failed to call webhook: Post "https:\/\/localhost:[0-9]+\/hang\?timeout=1s": context deadline exceeded$/],
])("a webhook that answers with %s fails the request, or not, as its policy says", async (behaviour, text) => {
  const timeoutSeconds = behaviour === "hang" ? 1 : 5;
  await configure("validating", "v", webhook(behaviour, { timeoutSeconds }));
  const { code, json } = await server.post(configMaps, configMap("c"));
  expect(code).toBe(500);
  expect(json.message).toStartWith(call(behaviour));
  if (typeof text === "string") expect(json.message).toBe(call(behaviour) + text);
  else expect(json.message).toMatch(text);
  await server.delete(`${configurations}/validatingwebhookconfigurations/v`);
  await configure("validating", "v", webhook(behaviour, { timeoutSeconds, failurePolicy: "Ignore" }));
  expect((await server.post(configMaps, configMap("c"))).code).toBe(201);
});

test.each([
  ["outside", 'remove operation does not apply: doc is missing path: "/nothing/here": missing value'],
  ["wrongtype", "json: cannot unmarshal number into Go struct field ConfigMap.data of type map[string]string"],
])("a patch %s fails the request under every failure policy", async (behaviour, text) => {
  await configure("mutating", "m", webhook(behaviour, { failurePolicy: "Ignore" }));
  const { code, json } = await server.post(configMaps, configMap("c"));
  expect([code, json.message]).toEqual([500, `Internal error occurred: ${text}`]);
});

test("a certificate of another authority is not accepted", async () => {
  const other = new TlsService(() => new Response("x"));
  const clientConfig = { url: `${hook.url}/allow`, caBundle: btoa(other.ca) };
  await other[Symbol.asyncDispose]();
  await configure("validating", "v", webhook("allow", { clientConfig }));
  const { json } = await server.post(configMaps, configMap("c"));
  expect(json.message).toEndWith("tls: failed to verify certificate: x509: certificate signed by unknown authority");
  expect(seen).toEqual([]);
});

test("a webhook with an expired certificate, or without TLS, is not told of the request", async () => {
  let isTold = false;
  const tell = () => {
    isTold = true;
    return new Response("x");
  };
  await using expired = new TlsService(tell, "localhost", { expired: true });
  const plain = Bun.serve({ port: 0, hostname: "localhost", fetch: tell });
  try {
    const cases = [
      [expired.url, "tls: failed to verify certificate: x509: certificate has expired or is not yet valid"],
      [`https://localhost:${plain.port}`, "http: server gave HTTP response to HTTPS client"],
    ] as const;
    for (const [url, text] of cases) {
      await configure("validating", "v", webhook("allow", { clientConfig: { url, caBundle: btoa(expired.ca) } }));
      const { code, json } = await server.post(configMaps, configMap("c"));
      expect([code, json.message]).toEqual([
        500,
        `${call("allow")}failed to call webhook: Post "${url}/?timeout=10s": ${text}`,
      ]);
      await server.delete(`${configurations}/validatingwebhookconfigurations/v`);
    }
    expect(isTold).toBe(false);
  } finally {
    await plain.stop(true);
  }
});

test.each(["169.254.0.1:1", "[fe80::1]:1"])("the link-local address %s is called like any other", async (address) => {
  const clientConfig = { url: `https://${address}/x`, caBundle: btoa(hook.ca) };
  await configure("validating", "v", webhook("allow", { clientConfig, timeoutSeconds: 1 }));
  const { code, json } = await server.post(configMaps, configMap("c"));
  expect(code).toBe(500);
  // Networks differ: one has no route there, another does not answer in time.
  expect(json.message).toStartWith(`${call("allow")}failed to call webhook: Post "https://${address}/x?timeout=1s": `);
});

test("a Service is called at its cluster IP and by its name", async () => {
  await server.create("/api/v1/namespaces/hooked/services", {
    metadata: { name: "hook" },
    spec: { clusterIP: "None", ports: [{ port: 443 }] },
  });
  const service = { namespace: "hooked", name: "hook", path: "/allow" };
  await configure("validating", "v", webhook("allow", { clientConfig: { service, caBundle: btoa(hook.ca) } }));
  const { json } = await server.post(configMaps, configMap("c"));
  expect(json.message).toBe(
    `${call("allow")}failed to call webhook: Post "https://hook.hooked.svc:443/allow?timeout=10s": cannot route to service with ClusterIP "None"`,
  );
});

test("a webhook with side effects is not called in a dry run", async () => {
  await configure("validating", "v", webhook("allow", { sideEffects: "NoneOnDryRun" }));
  expect((await server.post(`${configMaps}?dryRun=All`, configMap("c"))).code).toBe(201);
  expect(seen.length).toBe(1);
});

test("calls are counted under upstream's names", async () => {
  await configure("validating", "v", webhook("deny"));
  await server.post(configMaps, configMap("c"));
  const { text } = await server.get("/metrics");
  expect(text).toMatch(
    /apiserver_admission_webhook_request_total\{name="deny\.example\.com",type="validating",operation="CREATE",code="422",rejected="true"\} [0-9]+/,
  );
  expect(text).toMatch(
    /apiserver_admission_webhook_rejection_count\{name="deny\.example\.com",type="validating",operation="CREATE",error_type="no_error",rejection_code="422"\} [0-9]+/,
  );
});

test("a webhook that does not answer is not waited for again and again", async () => {
  await configure("validating", "v", webhook("hang", { timeoutSeconds: 1 }));
  const names = Array.from({ length: timeoutsMax }, (_, at) => `c${at}`);
  await Promise.all(names.map((name) => server.post(configMaps, configMap(name))));
  expect(seen.length).toBe(timeoutsMax);
  const { code, json } = await server.post(configMaps, configMap("c"));
  expect([code, json.message]).toEqual([
    500,
    `${call("hang")}failed to call webhook: it has not answered lately, and is not waited for`,
  ]);
  expect(seen.length).toBe(timeoutsMax);
  const events = async () => (await server.get("/api/v1/namespaces/default/events")).json.items;
  while ((await events()).length === 0) await Bun.sleep(5);
  const items = await events();
  expect(items).toContainEqual(
    expect.objectContaining({
      reason: "WebhookNotAnswering",
      involvedObject: expect.objectContaining({ kind: "ValidatingWebhookConfiguration", name: "v" }),
    }),
  );
  const { text } = await server.get("/metrics");
  expect(text).toContain(
    'quorate_admission_webhook_circuit_open{configuration="v",name="hang.example.com",type="validating"} 1',
  );
  await server.delete(`${configurations}/validatingwebhookconfigurations/v`);
  await server.create(configMaps, configMap("c"));
  expect((await server.get("/metrics")).text).not.toContain("quorate_admission_webhook_circuit_open{");
});

test("a webhook that gets another name while it is called leaves nothing behind", async () => {
  await configure("validating", "v", webhook("hang", { timeoutSeconds: 1 }));
  const path = `${configurations}/validatingwebhookconfigurations/v`;
  const { json: stored } = await server.get(path);
  const names = Array.from({ length: timeoutsMax }, (_, at) => `c${at}`);
  const hanging = names.map((name) => server.post(configMaps, configMap(name)));
  while (seen.length < timeoutsMax) await Bun.sleep(5);
  await server.put(path, { ...stored, webhooks: [webhook("hang", { name: "renamed.example.com", rules: [] })] });
  expect((await server.post(configMaps, configMap("c"))).code).toBe(201);
  expect((await Promise.all(hanging)).map(({ code }) => code)).toEqual(hanging.map(() => 500));
  expect((await server.get("/metrics")).text).not.toContain("quorate_admission_webhook_circuit_open{");
  await server.put(path, { ...(await server.get(path)).json, webhooks: [webhook("allow")] });
  expect((await server.post(configMaps, configMap("d"))).headers.get("warning")).toBe('299 - "careful"');
});

test.each(["mutating", "validating"] as const)(
  "a request that runs out of time while %s webhooks are asked stores nothing, whatever their policy",
  async (type) => {
    await server.create(configMaps, configMap("old"));
    await configure(type, "w", webhook("hang", { failurePolicy: "Ignore", timeoutSeconds: 30 }));
    const short = "?timeout=100ms";
    const answers = await Promise.all([
      server.post(configMaps + short, configMap("new")),
      server.request("PUT", `${configMaps}/old${short}`, { body: configMap("old", { a: "2" }) }),
      server.request("DELETE", `${configMaps}/old${short}`),
    ]);
    expect(answers.map(({ code, json }) => [code, json.reason])).toEqual(answers.map(() => [504, "Timeout"]));
    const { items } = (await server.get(configMaps)).json;
    expect(items.map((item: any) => [item.metadata.name, item.data])).toEqual([["old", { a: "1" }]]);
    await server.delete(`${configurations}/${type}webhookconfigurations`);
  },
);

test("requests with little time do not stop a webhook from being called for others", async () => {
  await configure("validating", "v", webhook("hang", { timeoutSeconds: 30 }));
  const names = Array.from({ length: timeoutsMax }, (_, at) => `c${at}`);
  await Promise.all(names.map((name) => server.post(`${configMaps}?timeout=50ms`, configMap(name))));
  await server.post(`${configMaps}?timeout=500ms`, configMap("last"));
  expect(seen.map(({ review }) => review.request.name)).toContain("last");
});

test("every server on the store enforces a configuration as soon as it is acknowledged", async () => {
  const store = new MemoryStore();
  try {
    await using one = TestServer.of(await startServerOn(store, {}));
    await using two = TestServer.of(await startServerOn(store, {}));
    const kind = "ValidatingWebhookConfiguration";
    const webhooks = [webhook("deny", { namespaceSelector: {} })];
    await one.create(`${configurations}/validatingwebhookconfigurations`, { kind, metadata: { name: "v" }, webhooks });
    for (const each of [one, two]) {
      expect((await each.post("/api/v1/namespaces/default/configmaps", configMap("c"))).code).toBe(422);
    }
  } finally {
    await store.close();
  }
});

test("a server without dynamic admission repairs what webhooks refuse", async () => {
  await using repair = await TestServer.start({ dynamicAdmission: false });
  const webhooks = [webhook("deny", { namespaceSelector: {} })];
  const kind = "ValidatingWebhookConfiguration";
  await repair.create(`${configurations}/validatingwebhookconfigurations`, { kind, metadata: { name: "v" }, webhooks });
  await repair.create("/api/v1/namespaces/default/configmaps", configMap("c"));
  expect(seen).toEqual([]);
});
