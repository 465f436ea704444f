import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { until } from "../until.ts";
import { configMap, pod, TestServer } from "./server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

const quotasOf = (namespace: string) => `/api/v1/namespaces/${namespace}/resourcequotas`;
const podsOf = (namespace: string) => `/api/v1/namespaces/${namespace}/pods`;
const withCpu = (name: string, cpu: string) => ({
  ...pod(name),
  spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu }, limits: { cpu } } }] },
});

async function namespaceWith(hard: object, spec: object = {}): Promise<string> {
  const namespace = await server.namespace();
  await server.create(quotasOf(namespace), { metadata: { name: "q" }, spec: { hard, ...spec } });
  return namespace;
}

async function used(namespace: string): Promise<any> {
  return (await server.get(`${quotasOf(namespace)}/q`)).json.status?.used;
}

async function untilEqual<T>(read: () => Promise<T>, expected: T): Promise<void> {
  await until(read, (value) => Bun.deepEquals(value, expected));
}

test("fifty creations at a time never pass the limit", async () => {
  const namespace = await namespaceWith({ pods: "20", "requests.cpu": "15" });
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, at) => server.post(podsOf(namespace), withCpu(`p${at}`, "1"))),
  );
  const created = answers.filter(({ code }) => code === 201);
  expect(created.length).toBe(15);
  const refused = answers.filter(({ code }) => code !== 201);
  expect(new Set(refused.map(({ code, json }) => `${code} ${json.reason}`))).toEqual(new Set(["403 Forbidden"]));
  expect(refused[0]?.json.message).toMatch(
    /^pods "p\d+" is forbidden: exceeded quota: q, requested: requests\.cpu=1, used: requests\.cpu=15, limited: requests\.cpu=15$/,
  );
  expect(await used(namespace)).toEqual({ pods: "15", "requests.cpu": "15" });
});

test("deleted and finished objects release their amounts at once", async () => {
  const namespace = await namespaceWith({ pods: "1" });
  for (let round = 0; round < 3; round++) {
    await server.create(podsOf(namespace), pod("p"));
    expect((await server.post(podsOf(namespace), pod("other"))).code).toBe(403);
    expect((await server.delete(`${podsOf(namespace)}/p?gracePeriodSeconds=0`)).code).toBe(200);
  }
  await untilEqual(() => used(namespace), { pods: "0" });
  await server.create(podsOf(namespace), pod("ends"));
  const ended = { status: { phase: "Succeeded" } };
  await server.patch(`${podsOf(namespace)}/ends/status`, "application/merge-patch+json", ended);
  await server.create(podsOf(namespace), pod("next"));
  await untilEqual(() => used(namespace), { pods: "1" });
});

test("failed requests and dry runs do not count", async () => {
  const namespace = await namespaceWith({ "count/configmaps": "2" });
  const maps = `/api/v1/namespaces/${namespace}/configmaps`;
  await server.create(maps, configMap("a"));
  expect((await server.post(maps, configMap("a"))).code).toBe(409);
  expect((await server.post(`${maps}?dryRun=All`, configMap("b"))).code).toBe(201);
  await untilEqual(() => used(namespace), { "count/configmaps": "1" });
  await server.create(maps, configMap("b"));
  const refused = await server.post(`${maps}?dryRun=All`, configMap("c"));
  expect(refused.json.message).toBe(
    'configmaps "c" is forbidden: exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2',
  );
});

test("containers must specify limited resources", async () => {
  const namespace = await namespaceWith({ "limits.cpu": "4", "requests.memory": "1Gi" });
  const { code, json } = await server.post(podsOf(namespace), withCpu("p", "1"));
  expect({ code, message: json.message }).toEqual({
    code: 403,
    message: 'pods "p" is forbidden: failed quota: q: must specify requests.memory for: c',
  });
});

test("a quota counts existing objects and follows its limits", async () => {
  const namespace = await server.namespace();
  await server.create(podsOf(namespace), pod("before"));
  await server.create(quotasOf(namespace), { metadata: { name: "q" }, spec: { hard: { pods: "1" } } });
  expect((await server.post(podsOf(namespace), pod("after"))).code).toBe(403);
  const patch = { spec: { hard: { pods: "2", services: "5" } } };
  await server.patch(`${quotasOf(namespace)}/q`, "application/merge-patch+json", patch);
  await server.create(podsOf(namespace), pod("after"));
  await untilEqual(() => used(namespace), { pods: "2", services: "0" });
});

test("a running pod that is resized is counted again, in both directions", async () => {
  const namespace = await namespaceWith({ "requests.cpu": "3" });
  await server.create(podsOf(namespace), withCpu("p", "1"));
  const resize = async (cpu: string) => {
    const containers = [{ name: "c", resources: { requests: { cpu }, limits: { cpu } } }];
    const path = `${podsOf(namespace)}/p/resize`;
    return (await server.patch(path, "application/strategic-merge-patch+json", { spec: { containers } })).json.message;
  };
  expect(await resize("2")).toBeUndefined();
  expect(await resize("4")).toBe(
    'pods "p" is forbidden: exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=2, limited: requests.cpu=3',
  );
  expect(await resize("1")).toBeUndefined();
  await untilEqual(() => used(namespace), { "requests.cpu": "1" });
  await server.create(podsOf(namespace), withCpu("other", "2"));
});

describe("scopes", () => {
  test("count only the pods that are in them", async () => {
    const namespace = await namespaceWith({ pods: "1" }, { scopes: ["BestEffort"] });
    await server.create(podsOf(namespace), withCpu("burstable", "1"));
    await server.create(podsOf(namespace), pod("best-effort"));
    expect((await server.post(podsOf(namespace), pod("second"))).code).toBe(403);
    expect(await used(namespace)).toEqual({ pods: "1" });
  });

  test("by priority class", async () => {
    const matchExpressions = [{ scopeName: "PriorityClass", operator: "In", values: ["system-node-critical"] }];
    const namespace = await namespaceWith({ pods: "0" }, { scopeSelector: { matchExpressions } });
    await server.create(podsOf(namespace), pod("plain"));
    const spec = { ...pod("x").spec, priorityClassName: "system-node-critical" };
    expect((await server.post(podsOf(namespace), { ...pod("critical"), spec })).code).toBe(403);
  });
});

test("node ports and load balancers of Services count, and are free when the type changes", async () => {
  const namespace = await namespaceWith({ services: "2", "services.nodeports": "2", "services.loadbalancers": "0" });
  const services = `/api/v1/namespaces/${namespace}/services`;
  const service = (name: string, type: string) => ({
    metadata: { name },
    spec: {
      type,
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 81 },
      ],
    },
  });
  expect((await server.post(services, service("l", "LoadBalancer"))).json.message).toContain(
    "services.loadbalancers=1",
  );
  await server.create(services, service("n", "NodePort"));
  expect((await server.post(services, service("m", "NodePort"))).json.message).toContain("services.nodeports=2");
  const patched = await server.patch(`${services}/n`, "application/merge-patch+json", { spec: { type: "ClusterIP" } });
  expect(patched.json.message).toBeUndefined();
  await server.create(services, service("m", "NodePort"));
  await untilEqual(() => used(namespace), { services: "2", "services.nodeports": "2", "services.loadbalancers": "0" });
});

test("sizes of claims count, by class too", async () => {
  const perClass = "fast.storageclass.storage.k8s.io/requests.storage";
  const namespace = await namespaceWith({ "requests.storage": "10Gi", [perClass]: "3Gi" });
  const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
  const claim = (name: string, storage: string, storageClassName: string) => ({
    metadata: { name },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName, resources: { requests: { storage } } },
  });
  await server.create(claims, claim("a", "2Gi", "fast"));
  expect((await server.post(claims, claim("b", "2Gi", "fast"))).json.message).toBe(
    `persistentvolumeclaims "b" is forbidden: exceeded quota: q, requested: ${perClass}=2Gi, used: ${perClass}=2Gi, limited: ${perClass}=3Gi`,
  );
  await server.create(claims, claim("b", "2Gi", "slow"));
  expect(await used(namespace)).toEqual({ "requests.storage": "4Gi", [perClass]: "2Gi" });
});

test("devices that are claimed count, by class", async () => {
  const perClass = "gpu.deviceclass.resource.k8s.io/devices";
  const namespace = await namespaceWith({ [perClass]: "3" });
  const claims = `/apis/resource.k8s.io/v1/namespaces/${namespace}/resourceclaims`;
  const claim = (name: string, count: number) => {
    const requests = [{ name: "r", exactly: { deviceClassName: "gpu", allocationMode: "ExactCount", count } }];
    return { metadata: { name }, spec: { devices: { requests } } };
  };
  await server.create(claims, claim("a", 2));
  expect((await server.post(claims, claim("b", 2))).json.message).toContain(
    `exceeded quota: q, requested: ${perClass}=2`,
  );
  await server.delete(`${claims}/a`);
  await server.create(claims, claim("b", 3));
  await untilEqual(() => used(namespace), { [perClass]: "3" });
});
