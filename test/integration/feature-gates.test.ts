import { afterAll, beforeAll, expect, test } from "bun:test";
import { startServer } from "../../src/index.ts";
import { mergePatch, TestServer } from "./server.ts";

const spec = {
  scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
  maxReplicas: 3,
  behavior: { scaleUp: { tolerance: "100m" } },
};

let server: TestServer;
let path: string;
beforeAll(async () => {
  server = await TestServer.start({
    runtimeConfig: { "certificates.k8s.io/v1beta1": true, "batch/v1/cronjobs": false },
    featureGates: { HPAConfigurableTolerance: false, PodCertificateRequest: true },
  });
  path = `/apis/autoscaling/v2/namespaces/${await server.namespace()}/horizontalpodautoscalers`;
});
afterAll(() => server.close());

test("a field behind a disabled gate is never stored, by any verb", async () => {
  const created = await server.create(path, { metadata: { name: "a" }, spec });
  expect(created.spec.behavior.scaleUp).toBeDefined();
  expect(created.spec.behavior.scaleUp.tolerance).toBeUndefined();
  // As upstream does: the writer owns the field that was dropped.
  expect(JSON.stringify(created.metadata.managedFields)).toContain("f:tolerance");
  const patched = await server.patch(`${path}/a`, mergePatch, {
    spec: { behavior: { scaleDown: { tolerance: "1" } } },
  });
  expect(patched.code).toBe(200);
  expect(patched.json.spec.behavior).toEqual(created.spec.behavior);
  const put = await server.put(`${path}/a`, { metadata: { name: "a" }, spec });
  expect(put.json.spec.behavior).toEqual(created.spec.behavior);
});

test("the generation of a ResourceSlice counts a field that is dropped", async () => {
  const slices = "/apis/resource.k8s.io/v1/resourceslices";
  const devices = [{ name: "d" }];
  const slice = {
    metadata: { name: "a" },
    spec: { driver: "example.com", allNodes: true, pool: { name: "p", resourceSliceCount: 1 }, devices },
  };
  expect((await server.create(slices, slice)).metadata.generation).toBe(1);
  const mapped = [{ ...devices[0], nodeAllocatableResourceMappings: { cpu: { allocationMultiplier: "1" } } }];
  const changed = await server.put(`${slices}/a`, { ...slice, spec: { ...slice.spec, devices: mapped } });
  expect(changed.json.spec.devices).toEqual(devices);
  expect(changed.json.metadata.generation).toBe(2);
});

test("the generation of an EndpointSlice counts a field that is dropped", async () => {
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${await server.namespace()}/endpointslices`;
  const endpoint = { addresses: ["192.0.2.1"] };
  const slice = { metadata: { name: "a" }, addressType: "IPv4", endpoints: [endpoint] };
  expect((await server.create(slices, slice)).metadata.generation).toBe(1);
  const endpoints = [{ ...endpoint, deprecatedTopology: { rack: "r" } }];
  const changed = await server.put(`${slices}/a`, { ...slice, endpoints });
  expect(changed.json.endpoints[0].deprecatedTopology).toBeUndefined();
  expect(changed.json.metadata.generation).toBe(2);
});

test("the state of every gate can be read", async () => {
  const { text } = await server.get("/metrics");
  expect(text).toContain('kubernetes_feature_enabled{name="HPAConfigurableTolerance",stage="BETA"} 0');
  expect(text).toContain('kubernetes_feature_enabled{name="SidecarContainers",stage=""} 1');
});

test("a kind behind a gate that is off is not served, although its version is", async () => {
  const { json } = await server.get("/apis/certificates.k8s.io/v1beta1");
  const names = json.resources.map(({ name }: { name: string }) => name);
  expect(names).toContain("podcertificaterequests");
  expect(names).not.toContain("clustertrustbundles");
  expect((await server.get("/apis/certificates.k8s.io/v1beta1/clustertrustbundles")).code).toBe(404);
});

test("one resource of a version can be switched off", async () => {
  expect((await server.get("/apis/batch/v1/jobs")).code).toBe(200);
  expect((await server.get("/apis/batch/v1/cronjobs")).code).toBe(404);
  const { json } = await server.get("/openapi/v3/apis/batch/v1");
  expect(Object.keys(json.components.schemas)).not.toContain("io.k8s.api.batch.v1.CronJob");
});

test.each([
  [{ runtimeConfig: { "example.com/v1": true } }, "unknown api groups example.com"],
  [{ runtimeConfig: { "batch/v1beta1": true } }, "unknown api versions batch/v1beta1"],
  [{ featureGates: { Nonsense: true } }, 'unknown feature gate "Nonsense"'],
  [{ featureGates: { ConsistentListFromCache: false } }, "locked to true"],
])("a server does not start with %j", async (options, message) => {
  await expect(startServer(options)).rejects.toThrow(message);
});

test.each([
  [{ "api/all": false, v1: true }, "/api/v1/namespaces"],
  [{ "networking.k8s.io/v1": false }, "/api/v1/services"],
  [{ "v1/events": false, "v1/namespaces": false }, "/api/v1/pods"],
])("a server starts and is ready with %j", async (runtimeConfig, path) => {
  await using restricted = await TestServer.start({ runtimeConfig });
  expect((await restricted.get("/readyz")).code).toBe(200);
  expect((await restricted.get(path)).code).toBe(200);
});
