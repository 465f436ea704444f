import { afterAll, afterEach, beforeAll, expect, spyOn, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TestServer } from "./server.ts";
import { TlsService } from "./tls-service.ts";

/** A server authenticates to webhooks. However a call ends, no other party sees the credentials or the object. */
const directory = mkdtempSync(join(tmpdir(), "quorate-webhook-secrets-"));
const auditLog = join(directory, "audit.log");
const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const token = "the-token-of-the-server";
const value = "the-value-of-the-object";
let server: TestServer;
let hook: TlsService;
let elsewhere: TlsService;
let seen: string[] = [];
let heardElsewhere = 0;
let logged = "";
const log = spyOn(process.stderr, "write");

beforeAll(async () => {
  log.mockImplementation((text) => {
    logged += String(text);
    return true;
  });
  elsewhere = new TlsService(() => {
    heardElsewhere++;
    return new Response("x");
  });
  hook = new TlsService((request) => {
    seen.push(request.headers.get("authorization") ?? "");
    switch (new URL(request.url).pathname) {
      case "/redirect":
        return new Response(null, { status: 307, headers: { location: `${elsewhere.url}/` } });
      case "/hang":
        return new Promise<Response>(() => undefined);
      case "/garbage":
        return new Response("not json");
      default:
        return new Response("broken", { status: 500 });
    }
  });
  const users = [{ name: new URL(hook.url).host, user: { token } }];
  const kubeconfig = { apiVersion: "v1", kind: "Config", users };
  writeFileSync(join(directory, "kubeconfig"), JSON.stringify(kubeconfig));
  const configuration = {
    apiVersion: "apiserver.config.k8s.io/v1",
    kind: "WebhookAdmissionConfiguration",
    kubeConfigFile: join(directory, "kubeconfig"),
  };
  const file = join(directory, "admission.json");
  const plugins = [{ name: "ValidatingAdmissionWebhook", configuration }];
  writeFileSync(
    file,
    JSON.stringify({ apiVersion: "apiserver.config.k8s.io/v1", kind: "AdmissionConfiguration", plugins }),
  );
  const auditPolicyFile = join(directory, "audit.yaml");
  writeFileSync(auditPolicyFile, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n");
  server = await TestServer.start({ admissionControlConfigFile: file, auditPolicyFile, auditLogPath: auditLog });
});

afterEach(async () => {
  await server.delete(configurations);
});

afterAll(async () => {
  await server.close();
  await hook[Symbol.asyncDispose]();
  await elsewhere[Symbol.asyncDispose]();
  log.mockRestore();
  rmSync(directory, { recursive: true });
});

function configure(path: string, ca = hook.ca): Promise<unknown> {
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }];
  const clientConfig = { url: hook.url + path, caBundle: btoa(ca) };
  const common = { admissionReviewVersions: ["v1"], sideEffects: "None", timeoutSeconds: 1 };
  return server.create(configurations, {
    metadata: { name: "w" },
    webhooks: [{ name: "w.example.com", clientConfig, rules, ...common }],
  });
}

test.each([
  ["an error", "/error", /has prevented the request from succeeding$/],
  ["no JSON", "/garbage", /json parse error/],
  ["a redirect", "/redirect", /the server responded with the status code 307/],
  ["no answer", "/hang", /context deadline exceeded$/],
])("CVE-2020-8561: %s of a webhook shows neither the credential nor the object", async (_, path, text) => {
  await configure(path);
  seen = [];
  const secret = { metadata: { name: "s" }, stringData: { password: value } };
  const answer = await server.post("/api/v1/namespaces/default/secrets", secret);
  expect(answer.json.message).toMatch(text);
  expect(seen).toEqual([`Bearer ${token}`]);
  expect(heardElsewhere).toBe(0);
  expect(logged).not.toBe("");
  const told = [answer.text, logged, readFileSync(auditLog, "utf8")].join("\n");
  for (const secretText of [token, value, btoa(value)]) expect(told).not.toContain(secretText);
});

test("the credential is not sent to a server that another authority has signed", async () => {
  await configure("/error", elsewhere.ca);
  seen = [];
  const answer = await server.post("/api/v1/namespaces/default/secrets", { metadata: { name: "s" } });
  expect(answer.json.message).toEndWith("x509: certificate signed by unknown authority");
  expect(seen).toEqual([]);
});

test.each([
  ["169.254.169.254", "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  ["127.0.0.1", "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
])("no Service leads a webhook to %s", async (address, text) => {
  const { code, json } = await server.post("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
    metadata: { name: "e", labels: { "kubernetes.io/service-name": "hooks" } },
    addressType: "IPv4",
    endpoints: [{ addresses: [address] }],
  });
  expect([code, json.details.causes[0].message]).toEqual([422, `Invalid value: "${address}": ${text}`]);
});
