import { afterAll, beforeAll, expect, test } from "bun:test";
import { TestServer } from "./server.ts";

const group = "/apis/resource.k8s.io/v1";
const devices = { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com", adminAccess: true } }] };
const message =
  "Forbidden: admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace";
let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start();
  await server.post("/api/v1/namespaces", { metadata: { name: "plain" } });
  const labels = { "resource.kubernetes.io/admin-access": "true" };
  await server.post("/api/v1/namespaces", { metadata: { name: "trusted", labels } });
});
afterAll(() => server.close());

test.each([
  ["resourceclaims", { metadata: { name: "a" }, spec: { devices } }],
  ["resourceclaimtemplates", { metadata: { name: "a" }, spec: { spec: { devices } } }],
])("%s may ask for admin access only in a namespace with the label", async (resource, object) => {
  const refused = await server.post(`${group}/namespaces/plain/${resource}`, object);
  expect(refused.code).toBe(422);
  expect(refused.json.details.causes).toEqual([
    { reason: "FieldValueForbidden", message, field: "spec.devices.requests[0].adminAccess" },
  ]);
  expect((await server.post(`${group}/namespaces/trusted/${resource}`, object)).code).toBe(201);
});

test("an allocation grants admin access only in a namespace with the label", async () => {
  const object = {
    metadata: { name: "b" },
    spec: { devices: { requests: [{ name: "gpu", exactly: { deviceClassName: "gpu.example.com" } }] } },
  };
  const results = [{ request: "gpu", driver: "gpu.example.com", pool: "a", device: "b", adminAccess: true }];
  const grant = async (namespace: string) => {
    await server.post(`${group}/namespaces/${namespace}/resourceclaims`, object);
    const path = `${group}/namespaces/${namespace}/resourceclaims/b/status`;
    return server.patch(path, "application/merge-patch+json", { status: { allocation: { devices: { results } } } });
  };
  const refused = await grant("plain");
  expect(refused.code).toBe(422);
  expect(refused.json.details.causes).toEqual([
    { reason: "FieldValueForbidden", message, field: "status.allocation.devices.results[0].adminAccess" },
  ]);
  expect((await grant("trusted")).code).toBe(200);
});
