import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { TestServer } from "../server.ts";

const webhooks = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All";
const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices?dryRun=All";
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }];
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

describe("attack 66: addresses of calls are checked when they are written", () => {
  test.each([
    ["without TLS", { url: "http://a.example.com" }, "'https' is the only allowed URL scheme"],
    ["of a file", { url: "file:///etc/passwd" }, "'https' is the only allowed URL scheme"],
    ["with a user", { url: "https://a:b@c.example.com" }, "user information is not permitted in the URL"],
    ["with a fragment", { url: "https://c.example.com/#x" }, "fragments are not permitted in the URL"],
    ["with a query", { url: "https://c.example.com/?x" }, "query parameters are not permitted in the URL"],
    ["without a host", { url: "https:///x" }, "host must be specified"],
    ["of a service above the root", { service: { namespace: "a", name: "b", path: "/../x" } }, "path: Invalid value"],
    [
      "of a service with an empty segment",
      { service: { namespace: "a", name: "b", path: "//x" } },
      "segment[0] may not be empty",
    ],
    ["of a service at no port", { service: { namespace: "a", name: "b", port: 65_536 } }, "port: Invalid value"],
    [
      "of a URL and a service",
      { url: "https://c", service: { namespace: "a", name: "b" } },
      "exactly one of url or service is required",
    ],
  ])("a webhook %s", async (_name, clientConfig, text) => {
    const webhook = {
      name: "w.example.com",
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      rules,
      clientConfig,
    };
    const { code, json } = await server.post(webhooks, { metadata: { name: "w" }, webhooks: [webhook] });
    expect([code, json.message]).toEqual([422, expect.stringContaining(text)]);
  });

  test.each([
    [
      "that is trusted without a certificate and with one",
      { insecureSkipTLSVerify: true, caBundle: btoa("x") },
      "may not be true if caBundle is present",
    ],
    ["at no port", { service: { namespace: "a", name: "b", port: 65_536 } }, "port"],
    ["without a service's name", { service: { namespace: "a" } }, "spec.service.name"],
  ])("an APIService %s", async (_name, more, text) => {
    const spec = { group: "evil.example.com", version: "v1", groupPriorityMinimum: 1, versionPriority: 1 };
    const service = { namespace: "a", name: "b" };
    const { code, json } = await server.post(apiServices, {
      metadata: { name: "v1.evil.example.com" },
      spec: { ...spec, service, ...more },
    });
    expect([code, json.message]).toEqual([422, expect.stringContaining(text)]);
  });
});
