import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { mergePatch, TestServer } from "./server.ts";

let server: TestServer;
let services: string;
beforeAll(async () => {
  server = await TestServer.start({ serviceClusterIpRange: "10.0.0.0/16,fd00::/108" });
  services = `/api/v1/namespaces/${await server.namespace()}/services`;
});
afterAll(() => server.close());

const ports = [{ name: "http", port: 80 }];
const service = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ports, ...spec } });
const names = async (from: TestServer, path: string): Promise<string[]> =>
  (await from.get(path)).json.items.map(({ metadata }: any) => metadata.name);
const addressesOf = (from = server) => names(from, "/apis/networking.k8s.io/v1/ipaddresses");

describe("cluster IPs", () => {
  test("come from the upper band, with an IPAddress object that names the Service", async () => {
    const { spec, metadata } = await server.create(services, service("plain"));
    const [, , third, fourth] = spec.clusterIP.split(".").map(Number);
    expect(third * 256 + fourth).toBeGreaterThan(256);
    expect(spec).toMatchObject({ clusterIPs: [spec.clusterIP], ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" });
    const address = (await server.get(`/apis/networking.k8s.io/v1/ipaddresses/${spec.clusterIP}`)).json;
    expect(address.spec.parentRef).toEqual({ resource: "services", namespace: metadata.namespace, name: "plain" });
    expect(address.metadata.labels).toEqual({
      "ipaddress.kubernetes.io/ip-family": "IPv4",
      "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
    });
  });

  test("of fifty creations at a time are different", async () => {
    const created = await Promise.all(
      Array.from({ length: 50 }, (_, at) => server.create(services, service(`many${at}`, { type: "NodePort" }))),
    );
    expect(new Set(created.map(({ spec }) => spec.clusterIP)).size).toBe(50);
    expect(new Set(created.map(({ spec }) => spec.ports[0].nodePort)).size).toBe(50);
  });

  test("that are asked for by many go to one", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => server.post(services, service(`one${at}`, { clusterIP: "10.0.0.77" }))),
    );
    expect(answers.filter(({ code }) => code === 201).length).toBe(1);
    const refused = answers.find(({ code }) => code !== 201);
    expect({ code: refused?.code, causes: refused?.json.details.causes }).toEqual({
      code: 422,
      causes: [
        {
          reason: "FieldValueInvalid",
          message: 'Invalid value: ["10.0.0.77"]: failed to allocate IP 10.0.0.77: provided IP is already allocated',
          field: "spec.clusterIPs",
        },
      ],
    });
  });

  test("out of range are refused", async () => {
    const { code, json } = await server.post(services, service("far", { clusterIP: "1.2.3.4" }));
    expect({ code, message: json.message }).toEqual({
      code: 422,
      message:
        'Service "far" is invalid: spec.clusterIPs: Invalid value: ["1.2.3.4"]: failed to allocate IP 1.2.3.4: the provided IP (1.2.3.4) is not in the valid range. The range of valid IPs is 10.0.0.0/16',
    });
  });

  test("are free again when the Service is gone, or was never stored", async () => {
    const asked = service("again", { clusterIP: "10.0.0.88" });
    await server.create(services, asked);
    await server.delete(`${services}/again`);
    await server.create(services, asked);
    const before = await addressesOf();
    expect((await server.post(services, service("again"))).code).toBe(409);
    expect((await server.post(services, service("Bad_Name"))).code).toBe(422);
    expect((await server.post(services, service("noport", { ports: [{ port: 0 }] }))).code).toBe(422);
    expect(await addressesOf()).toEqual(before);
  });

  test("are not taken by a dry run, which shows one", async () => {
    const before = await addressesOf();
    const { code, json } = await server.post(`${services}?dryRun=All`, service("dry", { type: "NodePort" }));
    expect(code).toBe(201);
    expect(json.spec.clusterIP).toMatch(/^10\.0\./);
    expect(json.spec.ports[0].nodePort).toBeGreaterThan(30_000);
    expect(await addressesOf()).toEqual(before);
  });

  test("stay over a PUT that leaves them out", async () => {
    const created = await server.create(services, service("kept", { type: "NodePort" }));
    const { json } = await server.put(`${services}/kept`, service("kept", { type: "NodePort" }));
    expect(json.spec.clusterIP).toBe(created.spec.clusterIP);
    expect(json.spec.ports[0].nodePort).toBe(created.spec.ports[0].nodePort);
  });

  test("of both families come and go with the policy", async () => {
    const { spec } = await server.create(services, service("dual", { ipFamilyPolicy: "PreferDualStack" }));
    expect(spec.ipFamilies).toEqual(["IPv4", "IPv6"]);
    const [v4, v6] = spec.clusterIPs;
    expect(v6).toMatch(/^fd00::/);
    const down = await server.patch(`${services}/dual`, mergePatch, { spec: { ipFamilyPolicy: "SingleStack" } });
    expect(down.json.spec).toMatchObject({ clusterIPs: [v4], ipFamilies: ["IPv4"] });
    expect(await addressesOf()).not.toContain(v6);
    const up = await server.patch(`${services}/dual`, mergePatch, { spec: { ipFamilyPolicy: "RequireDualStack" } });
    expect(up.json.spec.ipFamilies).toEqual(["IPv4", "IPv6"]);
    expect(up.json.spec.clusterIPs[0]).toBe(v4);
    expect(await addressesOf()).toContain(up.json.spec.clusterIPs[1]);
  });

  test("do not exist for headless Services and for ExternalName, and come with a change of the type", async () => {
    const headless = await server.create(services, service("headless", { clusterIP: "None", selector: { a: "b" } }));
    expect(headless.spec).toMatchObject({ clusterIP: "None", clusterIPs: ["None"], ipFamilies: ["IPv4"] });
    const external = await server.create(services, {
      metadata: { name: "ext" },
      spec: { type: "ExternalName", externalName: "example.com" },
    });
    expect(external.spec).not.toContainAnyKeys(["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"]);
    const inside = { spec: { type: "ClusterIP", externalName: null, ports } };
    const { json } = await server.patch(`${services}/ext`, mergePatch, inside);
    const ip = json.spec.clusterIP;
    expect(await addressesOf()).toContain(ip);
    const outside = { spec: { type: "ExternalName", externalName: "example.com", ports: null } };
    const back = await server.patch(`${services}/ext`, mergePatch, outside);
    expect(back.json.message).toBeUndefined();
    expect(back.json.spec).not.toContainAnyKeys(["clusterIP", "clusterIPs"]);
    expect(await addressesOf()).not.toContain(ip);
  });

  test("are given out until the range is full", async () => {
    await using small = await TestServer.start({ serviceClusterIpRange: "10.9.9.0/29" });
    const path = `/api/v1/namespaces/${await small.namespace()}/services`;
    await until(
      () => addressesOf(small),
      ({ length }) => length === 1,
    );
    const answers = await Promise.all(Array.from({ length: 8 }, (_, at) => small.post(path, service(`s${at}`))));
    expect(answers.filter(({ code }) => code === 201).length).toBe(5);
    const full = answers.find(({ code }) => code !== 201);
    expect(full?.code).toBe(500);
    expect(full?.json.message).toMatch(
      /^Internal error occurred: failed to allocate a serviceIP for Service "s\d": range is full$/,
    );
  });
});

describe("node ports", () => {
  const nodePort = (name: string, ...asked: object[]) => service(name, { type: "NodePort", ports: asked });

  test("that are asked for by many go to one", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => server.post(services, nodePort(`np${at}`, { port: 80, nodePort: 30_007 }))),
    );
    expect(answers.filter(({ code }) => code === 201).length).toBe(1);
    const refused = answers.find(({ code }) => code !== 201);
    expect(refused?.json.message).toMatch(
      /^Service "np\d+" is invalid: spec\.ports\[0\]\.nodePort: Invalid value: 30007: provided port is already allocated$/,
    );
  });

  test("out of range are refused", async () => {
    const { json } = await server.post(services, nodePort("low", { port: 80, nodePort: 80 }));
    expect(json.message).toBe(
      'Service "low" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    );
  });

  test("are shared by TCP and UDP of one port", async () => {
    const dns = [
      { name: "tcp", port: 53, protocol: "TCP" },
      { name: "udp", port: 53, protocol: "UDP" },
    ];
    const { spec } = await server.create(services, nodePort("dns", ...dns));
    expect(spec.ports[0].nodePort).toBe(spec.ports[1].nodePort);
  });

  test("are free again after a refusal, a change of the type, and a deletion", async () => {
    const asked = { name: "a", port: 80, nodePort: 30_020 };
    const taken = { name: "b", port: 81, nodePort: 30_007 };
    expect((await server.post(services, nodePort("half", asked, taken))).code).toBe(422);
    await server.create(services, nodePort("half", asked));
    const patched = await server.patch(`${services}/half`, mergePatch, { spec: { type: "ClusterIP" } });
    expect(patched.json.spec.ports[0]).not.toContainKey("nodePort");
    await server.create(services, nodePort("other", asked));
    await server.delete(`${services}/other`);
    await server.create(services, nodePort("third", asked));
  });

  test("are left out for a load balancer that wants none, which gets a health check port", async () => {
    const { spec } = await server.create(
      services,
      service("lb", { type: "LoadBalancer", allocateLoadBalancerNodePorts: false, externalTrafficPolicy: "Local" }),
    );
    expect(spec.ports[0]).not.toContainKey("nodePort");
    expect(spec.healthCheckNodePort).toBeGreaterThanOrEqual(30_000);
    const cluster = await server.patch(`${services}/lb`, mergePatch, { spec: { externalTrafficPolicy: "Cluster" } });
    expect(cluster.json.message).toBeUndefined();
    expect(cluster.json.spec).not.toContainKey("healthCheckNodePort");
    await server.create(services, nodePort("hc", { port: 80, nodePort: spec.healthCheckNodePort }));
  });
});

test("the server announces itself", async () => {
  const path = "/api/v1/namespaces/default/services/kubernetes";
  const { json } = await until(
    () => server.get(path),
    ({ code }) => code === 200,
  );
  expect(json.metadata.labels).toEqual({ component: "apiserver", provider: "kubernetes" });
  expect(json.spec).toMatchObject({
    clusterIP: "10.0.0.1",
    ipFamilyPolicy: "SingleStack",
    sessionAffinity: "None",
    ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: server.running.port }],
  });
  const slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";
  const slice = await until(
    () => server.get(slices),
    ({ code }) => code === 200,
  );
  expect(slice.json.ports).toEqual([{ name: "https", port: server.running.port, protocol: "TCP" }]);
  expect((await server.get("/api/v1/namespaces/default/endpoints/kubernetes")).code).toBe(200);
  const cidr = (await server.get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes")).json;
  expect(cidr.spec.cidrs).toEqual(["10.0.0.0/16", "fd00::/108"]);
  expect(cidr.status.conditions).toMatchObject([{ type: "Ready", status: "True" }]);
});

describe("a restart", () => {
  test("keeps allocated ones, and releases those without an owner", async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "allocation-"));
    try {
      const taken = service("taken", {
        clusterIP: "10.96.0.50",
        type: "NodePort",
        ports: [{ port: 80, nodePort: 30_050 }],
      });
      let path = "";
      {
        await using first = await TestServer.start({ dataDir });
        path = `/api/v1/namespaces/${await first.namespace()}/services`;
        await first.create(path, taken);
        await first.create("/apis/networking.k8s.io/v1/ipaddresses", orphan("10.96.0.60"));
        await Bun.sleep(1_100);
      }
      await using second = await TestServer.start({ dataDir });
      const again = await second.post(path, service("again", { clusterIP: "10.96.0.50" }));
      expect(again.json.message).toContain("provided IP is already allocated");
      const port = { type: "NodePort", ports: [{ port: 80, nodePort: 30_050 }] };
      expect((await second.post(path, service("again", port))).json.message).toContain(
        "provided port is already allocated",
      );
      const left = await until(
        () => addressesOf(second),
        (all) => !all.includes("10.96.0.60"),
      );
      expect(left).toContain("10.96.0.50");
    } finally {
      rmSync(dataDir, { recursive: true });
    }
  });

  const orphan = (name: string) => ({
    metadata: { name, labels: { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" } },
    spec: { parentRef: { resource: "services", namespace: "default", name: "gone" } },
  });
});

describe("a ServiceCIDR", () => {
  const cidrs = "/apis/networking.k8s.io/v1/servicecidrs";
  const readyOf = async (name: string) =>
    (await server.get(`${cidrs}/${name}`)).json.status?.conditions?.find(({ type }: any) => type === "Ready");

  test("adds addresses, and is removed only when none of them is in use", async () => {
    await server.create(cidrs, { metadata: { name: "more" }, spec: { cidrs: ["10.77.0.0/24"] } });
    await until(
      () => readyOf("more"),
      (ready) => ready?.status === "True",
    );
    await server.create(services, service("more", { clusterIP: "10.77.0.9" }));
    await server.delete(`${cidrs}/more`);
    const ready = await until(
      () => readyOf("more"),
      (now) => now?.status === "False",
    );
    expect(ready).toMatchObject({ reason: "Terminating" });
    const refused = await server.post(services, service("late", { clusterIP: "10.77.0.10" }));
    expect(refused.json.message).toContain("is not in the valid range");
    await server.delete(`${services}/more`);
    await until(
      () => server.get(`${cidrs}/more`),
      ({ code }) => code === 404,
    );
  });
});

test("the Endpoints of a Service go with it", async () => {
  await server.create(services, service("endpoints"));
  const path = services.replace(/services$/, "endpoints");
  await server.create(path, { metadata: { name: "endpoints" } });
  await server.create(path, { metadata: { name: "others" } });
  await server.delete(`${services}/endpoints`);
  expect((await server.get(`${path}/endpoints`)).code).toBe(404);
  expect((await server.get(`${path}/others`)).code).toBe(200);
});

test("an address that is deleted while a Service holds it comes back", async () => {
  const { spec } = await server.create(services, service("robbed"));
  const path = `/apis/networking.k8s.io/v1/ipaddresses/${spec.clusterIP}`;
  const { metadata } = (await server.get(path)).json;
  await server.delete(path);
  const again = await until(
    () => server.get(path),
    ({ code }) => code === 200,
  );
  expect(again.json.metadata.uid).not.toBe(metadata.uid);
});
