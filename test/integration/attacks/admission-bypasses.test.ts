import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { pod, TestServer } from "../server.ts";

let server: TestServer;
let namespace: string;

beforeAll(async () => {
  server = await TestServer.start({ enableAdmissionPlugins: ["DenyServiceExternalIPs"] });
  namespace = await server.namespace();
});
afterAll(() => server.close());

describe("admission sees every part of a write", () => {
  test("CVE-2020-8554: a Service takes no addresses of others, where DenyServiceExternalIPs is on", async () => {
    const spec = { ports: [{ port: 80 }], externalIPs: ["198.51.100.1"] };
    const { code, json } = await server.post(`/api/v1/namespaces/${namespace}/services`, {
      metadata: { name: "s" },
      spec,
    });
    expect([code, json.message]).toEqual([
      403,
      expect.stringContaining("Use of external IPs is denied by admission control"),
    ]);
  });

  test.each([
    ["CVE-2023-2728", { env: [{ name: "E", valueFrom: { secretKeyRef: { name: "s", key: "k" } } }] }],
    ["CVE-2024-3177", { envFrom: [{ secretRef: { name: "s" } }] }],
  ])("%s: an ephemeral container gets no Secret that its account may not use", async (cve, fields) => {
    const annotations = { "kubernetes.io/enforce-mountable-secrets": "true" };
    const name = cve.toLowerCase();
    await server.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name, annotations } });
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const spec = { serviceAccountName: name, automountServiceAccountToken: false };
    const stored = await server.create(pods, pod(name, spec));
    stored.spec.ephemeralContainers = [{ name: "e", image: "i", ...fields }];
    const { code, json } = await server.put(`${pods}/${name}/ephemeralcontainers`, stored);
    expect([code, json.message]).toEqual([
      500,
      expect.stringContaining(`service account ${name} does not reference that secret`),
    ]);
    expect((await server.get(`${pods}/${name}`)).json.spec.ephemeralContainers).toBeUndefined();
  });
});
