import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "../../src/access/certificates/authority.ts";
import { ownAddress } from "../integration/own-address.ts";
import { mergePatch, pod, TestServer } from "../integration/server.ts";

/** Webhooks on Node's https server, called by URL and by Service. */
const directory = mkdtempSync(join(tmpdir(), "node-webhook-"));
const admission = "/apis/admissionregistration.k8s.io/v1";
const hourMs = 3_600_000;
let server: TestServer;
let hooks: Bun.Subprocess<"ignore", "pipe", "inherit">;
let port: number;
let ca: string;

beforeAll(async () => {
  const validity = { notBeforeMs: Date.now() - hourMs, notAfterMs: Date.now() + hourMs };
  const authority = createAuthority({ commonName: "hooks", ...validity });
  const names = { dnsNames: ["localhost", "hooks.default.svc"], ipAddresses: [] };
  const pair = issueCertificate(authority, {
    ...validity,
    ...names,
    commonName: "hooks",
    organizations: [],
    usage: "server",
  });
  const files = { certificate: join(directory, "tls.crt"), key: join(directory, "tls.key") };
  writeFileSync(files.certificate, pair.certificate);
  writeFileSync(files.key, pair.key);
  ca = btoa(authority.certificate);
  hooks = Bun.spawn(["node", join(import.meta.dir, "node-webhook.mjs"), files.certificate, files.key], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const { value } = await hooks.stdout.getReader().read();
  port = Number(Buffer.from(value ?? []).toString());
  server = await TestServer.start({ enableAggregatorRouting: true });
  await createService();
}, 60_000);

afterAll(async () => {
  await server.close();
  hooks.kill();
  await hooks.exited;
  rmSync(directory, { recursive: true });
});

/** Makes a Service whose only endpoint is this process. */
async function createService(): Promise<void> {
  await server.create("/api/v1/namespaces/default/services", {
    metadata: { name: "hooks" },
    spec: { ports: [{ name: "https", port: 443 }] },
  });
  await server.create("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
    metadata: { name: "hooks", labels: { "kubernetes.io/service-name": "hooks" } },
    addressType: "IPv4",
    ports: [{ name: "https", port }],
    endpoints: [{ addresses: [ownAddress()], conditions: { ready: true } }],
  });
}

const rule = (group: string, resource: string, ...operations: string[]) => [
  { apiGroups: [group], apiVersions: ["v1"], operations, resources: [resource] },
];

describe.each(["url", "service"])("webhooks by %s", (by) => {
  let namespace: string;
  const maps = () => `/api/v1/namespaces/${namespace}/configmaps`;
  const clientConfig = (path: string) =>
    by === "url"
      ? { url: `https://localhost:${port}${path}`, caBundle: ca }
      : { service: { namespace: "default", name: "hooks", path }, caBundle: ca };
  const webhook = (path: string, rules: object[], more: object = {}) => ({
    name: `${path.slice(1)}.example.com`,
    clientConfig: clientConfig(path),
    rules,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    ...more,
  });
  const denied = (path: string, message: string) =>
    `admission webhook "${path}.example.com" denied the request: ${message}`;

  beforeAll(async () => {
    namespace = await server.namespace();
    await server.create(`${admission}/mutatingwebhookconfigurations`, {
      metadata: { name: by },
      webhooks: [webhook("/label", rule("", "configmaps", "CREATE", "UPDATE"))],
    });
    await server.create(`${admission}/validatingwebhookconfigurations`, {
      metadata: { name: by },
      webhooks: [
        webhook("/judge", rule("", "configmaps", "*")),
        webhook("/scale", rule("apps", "deployments/scale", "UPDATE")),
        webhook("/status", rule("", "pods/status", "UPDATE")),
        webhook("/exec", rule("", "pods/exec", "CONNECT")),
        webhook("/broken", rule("", "services", "CREATE"), { failurePolicy: "Ignore", name: "ignored.example.com" }),
        webhook("/broken", rule("", "secrets", "CREATE")),
      ],
    });
  });

  afterAll(async () => {
    for (const type of ["mutating", "validating"])
      await server.delete(`${admission}/${type}webhookconfigurations/${by}`);
  });

  test("change objects, warn and refuse", async () => {
    const { json, headers } = await server.post(maps(), { metadata: { name: "a" }, data: { value: "good" } });
    expect([json.metadata.labels, headers.get("warning")]).toEqual([{ "seen-by": "CREATE" }, '299 - "was new"']);
    const patched = await server.patch(`${maps()}/a`, mergePatch, { data: { value: "better" } });
    expect([patched.json.metadata.labels, patched.headers.get("warning")]).toEqual([
      { "seen-by": "UPDATE" },
      '299 - "was good"',
    ]);
    const refused = await server.post(maps(), { metadata: { name: "b" }, data: { value: "bad" } });
    expect([refused.code, refused.json.message]).toEqual([403, denied("judge", "the value is bad")]);
    expect((await server.delete(`${maps()}/a`)).code).toBe(200);
  });

  test("are asked in a dry run, which stores nothing", async () => {
    const dry = await server.post(`${maps()}?dryRun=All`, { metadata: { name: "dry" }, data: { value: "good" } });
    expect([dry.code, dry.json.metadata.labels]).toEqual([201, { "seen-by": "CREATE" }]);
    expect((await server.get(`${maps()}/dry`)).code).toBe(404);
  });

  test("see subresources and connections", async () => {
    const spec = pod("p").spec;
    const labels = { app: "web" };
    const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    await server.create(deployments, {
      metadata: { name: "web" },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    });
    const scale = (replicas: number) => server.patch(`${deployments}/web/scale`, mergePatch, { spec: { replicas } });
    expect((await scale(5)).json.spec.replicas).toBe(5);
    expect((await scale(6)).json.message).toBe(denied("scale", "6 replicas"));
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    while ((await server.post(pods, pod("p"))).code !== 201) await Bun.sleep(10);
    const status = (phase: string) => server.patch(`${pods}/p/status`, mergePatch, { status: { phase } });
    expect((await status("Running")).code).toBe(200);
    expect((await status("Failed")).json.message).toBe(denied("status", "status is Failed"));
    const exec = await server.post(`${pods}/p/exec?command=ls&command=-l&stdout=true`, undefined);
    expect([exec.code, exec.json.message]).toEqual([403, denied("exec", "CONNECT ls -l in p")]);
  });

  test("that end the connection count by their failure policy", async () => {
    const service = { metadata: { name: "s" }, spec: { ports: [{ port: 80 }] } };
    expect((await server.post(`/api/v1/namespaces/${namespace}/services`, service)).code).toBe(201);
    const secrets = `/api/v1/namespaces/${namespace}/secrets`;
    const { code, json } = await server.post(secrets, { metadata: { name: "s" } });
    expect(code).toBe(500);
    expect(json.message).toMatch(/^Internal error occurred: failed calling webhook "broken.example.com": .*: EOF$/);
  });
});
