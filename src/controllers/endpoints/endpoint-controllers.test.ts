import { afterEach, beforeEach, expect, test } from "bun:test";
import type { KubeObject } from "../../api/object-meta.ts";
import type * as coreV1 from "../../api/types/core-v1.ts";
import type { EndpointSlice } from "../../api/types/discovery-v1.ts";
import type { ControllerName } from "../controller-names.ts";
import { ControllerTest } from "../testing.ts";
import { startEndpointControllers } from "./endpoint-controllers.ts";
import type { SliceObserver, SliceTotals } from "./slice-observer.ts";

const all: readonly ControllerName[] = [
  "endpoints-controller",
  "endpointslice-controller",
  "endpointslice-mirroring-controller",
];

let objects: ControllerTest;
let running: Disposable | undefined;
let readTotals: (() => SliceTotals) | undefined;

beforeEach(async () => {
  objects = await ControllerTest.open();
  for (const name of ["node-1", "node-2"]) {
    const labels = { "topology.kubernetes.io/zone": `zone-of-${name}` };
    await objects.create("nodes", { kind: "Node", metadata: { name, labels } });
  }
});

afterEach(async () => {
  running?.[Symbol.dispose]();
  await objects[Symbol.asyncDispose]();
  expect(objects.errors).toEqual([]);
});

const sliceResource = "endpointslices.discovery.k8s.io";

async function start(names: readonly ControllerName[] = all): Promise<void> {
  running?.[Symbol.dispose]();
  const observer: SliceObserver = {
    changed() {},
    synced() {},
    observeTotals(read) {
      readTotals ??= read;
      return { [Symbol.dispose]() {} };
    },
  };
  readTotals = undefined;
  const sliceObservers = { services: observer, mirrors: observer };
  running = startEndpointControllers({ ...objects, controllers: new Set(names), sliceObservers });
  await objects.pass();
}

const selector = { app: "web" };
const ports = [{ name: "http", port: 80, targetPort: "web", protocol: "TCP" }];

async function createService(
  fields: Partial<coreV1.ServiceSpec> = {},
  labels: Record<string, string> = {},
): Promise<void> {
  const families = { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" };
  const spec = { type: "ClusterIP", clusterIP: "None", clusterIPs: ["None"], ...families, ports, selector, ...fields };
  const metadata = { name: "web", namespace: "n", labels };
  await objects.create("services", { kind: "Service", metadata, spec });
}

interface PodFields {
  readonly ip?: string;
  readonly ready?: boolean;
  readonly node?: string;
  readonly phase?: string;
  readonly labels?: Record<string, string>;
}

async function createPod(name: string, fields: PodFields = {}): Promise<void> {
  const { node = "node-1", labels = selector } = fields;
  const container = { name: "c", image: "i", ports: [{ name: "web", containerPort: 8080 }] };
  const spec = { nodeName: node, containers: [container] };
  await objects.create("pods", { kind: "Pod", metadata: { name, namespace: "n", labels }, spec });
  await setStatus(name, fields);
}

async function setStatus(name: string, { ip = `10.0.0.${name.slice(4)}`, ready = true, phase = "Running" }: PodFields) {
  const conditions = [{ type: "Ready", status: ready ? "True" : "False", lastTransitionTime: "2026-01-01T00:00:00Z" }];
  const status = { phase, conditions, ...(ip !== "" && { podIP: ip, podIPs: [{ ip }] }) };
  await objects.update("pods", name, (pod) => ({ ...pod, status }), "status");
}

const endpoints = () => objects.get<coreV1.Endpoints>("endpoints", "web");
const slices = () => objects.list<EndpointSlice>(sliceResource);

/** Returns the addresses of all slices with their conditions: r ready, s serving, t terminating. */
function addresses(): string[] {
  return slices()
    .flatMap((slice) => slice.endpoints ?? [])
    .map(({ addresses: ips, conditions: { ready, serving, terminating } = {} }) => {
      return `${ips?.[0]} ${ready ? "r" : ""}${serving ? "s" : ""}${terminating ? "t" : ""}`;
    })
    .toSorted();
}

/** Runs `act` and returns the writes to Endpoints and slices that follow. */
async function writesDuring(act: () => Promise<unknown>): Promise<string[]> {
  const written: string[] = [];
  using _listening = objects.store.subscribe((batch) => {
    for (const { entry, type } of batch) if (/\/(endpoints|endpointslices)\//.test(entry.key)) written.push(type);
  });
  await act();
  await objects.pass(2_000);
  return written;
}

test("a service gets Endpoints and a slice with the pods it selects", async () => {
  await createService({}, { team: "a" });
  await createPod("pod-1");
  await createPod("pod-2", { ready: false, node: "node-2" });
  await createPod("pod-3", { labels: { app: "other" } });
  await createPod("pod-4", { phase: "Succeeded" });
  await createPod("pod-5", { ip: "" });
  await start();
  const [slice, ...others] = slices();
  expect(others).toEqual([]);
  expect(slice?.metadata).toMatchObject({
    generateName: "web-",
    labels: {
      team: "a",
      "kubernetes.io/service-name": "web",
      "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
      "service.kubernetes.io/headless": "",
    },
    ownerReferences: [{ apiVersion: "v1", kind: "Service", name: "web", controller: true, blockOwnerDeletion: true }],
    annotations: { "endpoints.kubernetes.io/last-change-trigger-time": expect.any(String) },
  });
  expect(slice?.ports).toEqual([{ name: "http", protocol: "TCP", port: 8080 }]);
  expect(slice?.endpoints).toMatchObject([
    {
      addresses: ["10.0.0.1"],
      conditions: { ready: true, serving: true, terminating: false },
      targetRef: { kind: "Pod", namespace: "n", name: "pod-1" },
      nodeName: "node-1",
      zone: "zone-of-node-1",
    },
    { addresses: ["10.0.0.2"], conditions: { ready: false, serving: false }, zone: "zone-of-node-2" },
  ]);
  expect(endpoints()?.metadata.labels).toEqual({
    team: "a",
    "service.kubernetes.io/headless": "",
    "endpoints.kubernetes.io/managed-by": "endpoint-controller",
  });
  expect(endpoints()?.subsets).toMatchObject([
    {
      addresses: [{ ip: "10.0.0.1", nodeName: "node-1", targetRef: { name: "pod-1" } }],
      notReadyAddresses: [{ ip: "10.0.0.2" }],
      ports: [{ name: "http", port: 8080, protocol: "TCP" }],
    },
  ]);
  expect(readTotals?.()).toMatchObject({ endpoints: 2, slices: 1, slicesNeeded: 1 });
});

test("a service without pods has Endpoints without subsets and an empty slice", async () => {
  await createService();
  await start();
  expect(endpoints()).toBeDefined();
  expect(endpoints()?.subsets).toBeUndefined();
  const placeholder = slices();
  expect(placeholder).toHaveLength(1);
  expect(placeholder[0]?.endpoints ?? []).toEqual([]);
  expect(placeholder[0]?.ports ?? []).toEqual([]);
  await createPod("pod-1");
  await objects.pass();
  expect(slices().map(({ metadata }) => metadata.name)).toEqual([placeholder[0]?.metadata.name as string]);
  expect(addresses()).toEqual(["10.0.0.1 rs"]);
});

test("readiness, termination and deletion of a pod are followed", async () => {
  await createService();
  await createPod("pod-1");
  await start();
  await setStatus("pod-1", { ready: false });
  expect(addresses()).toEqual(["10.0.0.1 "]);
  expect(endpoints()?.subsets?.[0]?.notReadyAddresses).toHaveLength(1);
  await setStatus("pod-1", { ready: true });
  expect(addresses()).toEqual(["10.0.0.1 rs"]);
  await objects.delete("pods", "pod-1", { gracePeriodSeconds: 30 });
  expect(addresses()).toEqual(["10.0.0.1 st"]);
  expect(endpoints()?.subsets).toBeUndefined();
  await objects.delete("pods", "pod-1", { gracePeriodSeconds: 0 });
  expect(addresses()).toEqual([]);
  expect(slices()).toHaveLength(1);
});

test("a pod that matches no longer, or matches now, changes the service", async () => {
  await createService();
  await createPod("pod-1");
  await createPod("pod-2", { labels: { app: "other" } });
  await start();
  const labelled = (labels: Record<string, string>) => (pod: KubeObject) => ({
    ...pod,
    metadata: { ...pod.metadata, labels },
  });
  await objects.update("pods", "pod-1", labelled({ app: "other" }));
  await objects.update("pods", "pod-2", labelled(selector));
  expect(addresses()).toEqual(["10.0.0.2 rs"]);
});

test("changes of a pod that endpoints do not contain cost no write, and neither does a new leader", async () => {
  await createService();
  await createPod("pod-1");
  await start();
  const annotated = { note: "x", "kubernetes.io/limit-ranger": "y" };
  const annotate = () =>
    objects.update("pods", "pod-1", (pod) => ({ ...pod, metadata: { ...pod.metadata, annotations: annotated } }));
  expect(await writesDuring(annotate)).toEqual([]);
  expect(await writesDuring(() => createPod("pod-9", { labels: { app: "other" } }))).toEqual([]);
  expect(await writesDuring(() => start())).toEqual([]);
});

test("publishNotReadyAddresses makes every address ready", async () => {
  await createService({ publishNotReadyAddresses: true });
  await createPod("pod-1", { ready: false });
  await start();
  expect(addresses()).toEqual(["10.0.0.1 r"]);
  expect(endpoints()?.subsets?.[0]?.addresses).toHaveLength(1);
});

test("slices that somebody changes or removes are restored, and those of another manager stay", async () => {
  await createService();
  await createPod("pod-1");
  const foreign = {
    kind: "EndpointSlice",
    apiVersion: "discovery.k8s.io/v1",
    metadata: { name: "foreign", namespace: "n", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.9.9.9"], conditions: { ready: true } }],
    ports: [],
  };
  await objects.create(sliceResource, foreign);
  await start();
  const own = () => slices().filter(({ metadata }) => metadata.name !== "foreign");
  const nameOf = () => own()[0]?.metadata.name ?? "";
  await objects.update(sliceResource, nameOf(), (old) => ({ ...old, endpoints: [] }));
  await objects.pass(1_000);
  expect(own()[0]?.endpoints).toHaveLength(1);
  await objects.delete(sliceResource, nameOf());
  await objects.pass(1_000);
  expect(own()).toHaveLength(1);
  expect(slices()).toHaveLength(2);
});

test("removed Endpoints are made again, and go with their service", async () => {
  await createService();
  await createPod("pod-1");
  await start();
  await objects.delete("endpoints", "web");
  expect(endpoints()?.subsets).toHaveLength(1);
  await objects.delete("services", "web");
  expect(endpoints()).toBeUndefined();
});

test("Endpoints whose service went while no controller ran are removed, unless leaders are elected with them", async () => {
  const withoutService = (name: string, annotations: Record<string, string>) =>
    objects.create("endpoints", { kind: "Endpoints", metadata: { name, namespace: "n", annotations } });
  await withoutService("web", {});
  await withoutService("lock", { "control-plane.alpha.kubernetes.io/leader": "{}" });
  await start();
  expect(objects.list<KubeObject>("endpoints").map(({ metadata }) => metadata.name)).toEqual(["lock"]);
});

test("a pod on a missing node is left out, reported, and added when the node comes", async () => {
  await createService();
  await createPod("pod-1", { node: "node-9" });
  await createPod("pod-2");
  await start(["endpointslice-controller"]);
  expect(addresses()).toEqual(["10.0.0.2 rs"]);
  expect(objects.events()).toEqual([
    "FailedToUpdateEndpointSlices: Error updating Endpoint Slices for Service n/web: skipping Pod pod-1 for Service n/web: Node node-9 Not Found",
  ]);
  await objects.create("nodes", { kind: "Node", metadata: { name: "node-9" } });
  await objects.pass(4_000);
  expect(addresses()).toEqual(["10.0.0.1 rs", "10.0.0.2 rs"]);
});

test("pods with different ports get different slices", async () => {
  await createService();
  await createPod("pod-1");
  const container = { name: "c", image: "i", ports: [{ name: "web", containerPort: 9090 }] };
  const metadata = { name: "pod-2", namespace: "n", labels: selector };
  const spec = { nodeName: "node-1", containers: [container] };
  await objects.create("pods", { kind: "Pod", metadata, spec });
  await setStatus("pod-2", {});
  await start();
  expect(
    slices()
      .map(({ ports: own }) => own?.[0]?.port)
      .toSorted(),
  ).toEqual([8080, 9090]);
  expect(endpoints()?.subsets?.map(({ ports: own }) => own?.[0]?.port)).toEqual([8080, 9090]);
});

test("endpoints of a service that prefers its zone get hints, and lose them with the preference", async () => {
  await createService({ trafficDistribution: "PreferSameNode" });
  await createPod("pod-1");
  await createPod("pod-2", { ready: false, node: "node-2" });
  await start();
  const hints = () => slices()[0]?.endpoints?.map((endpoint) => endpoint.hints);
  expect(hints()).toEqual([{ forZones: [{ name: "zone-of-node-1" }], forNodes: [{ name: "node-1" }] }, undefined]);
  expect(readTotals?.().distributions).toEqual(new Map([["PreferSameNode", 1]]));
  const plain = (old: coreV1.Service) => {
    const { trafficDistribution: _gone, ...spec } = old.spec ?? {};
    return { ...old, spec };
  };
  await objects.update("services", "web", plain);
  expect(hints()).toEqual([undefined, undefined]);
});

test("services without a selector and external names are left to others", async () => {
  await createService({ selector: {} });
  await createPod("pod-1");
  await start(["endpoints-controller", "endpointslice-controller"]);
  expect(endpoints()).toBeUndefined();
  expect(slices()).toEqual([]);
});

const ownSubsets = [
  {
    addresses: [{ ip: "192.0.2.1", hostname: "a" }, { ip: "2001:db8::1" }],
    notReadyAddresses: [{ ip: "192.0.2.2" }],
    ports: [{ name: "http", port: 80, protocol: "TCP" }],
  },
];

async function createEndpoints(
  subsets: readonly object[] = ownSubsets,
  labels: Record<string, string> = {},
): Promise<void> {
  const annotations = { note: "x", "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z" };
  const metadata = { name: "web", namespace: "n", labels, annotations };
  await objects.create("endpoints", { kind: "Endpoints", metadata, subsets });
  await objects.pass();
}

test("Endpoints of a service without a selector are mirrored, one slice for each family", async () => {
  await createService({ selector: {} });
  await createEndpoints(ownSubsets, { team: "a" });
  await start();
  const [v4, v6, ...others] = slices().toSorted((a, b) => (a.addressType < b.addressType ? -1 : 1));
  expect(others).toEqual([]);
  expect(v4?.metadata).toMatchObject({
    labels: {
      team: "a",
      "kubernetes.io/service-name": "web",
      "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
    },
    annotations: { note: "x" },
    ownerReferences: [{ kind: "Endpoints", name: "web", controller: true }],
  });
  expect(v4?.endpoints).toEqual([
    { addresses: ["192.0.2.1"], conditions: { ready: true }, hostname: "a" },
    { addresses: ["192.0.2.2"], conditions: { ready: false } },
  ]);
  expect(v6?.endpoints).toEqual([{ addresses: ["2001:db8::1"], conditions: { ready: true } }]);
  expect(await writesDuring(() => start())).toEqual([]);
});

test("a mirror follows its Endpoints and goes when it is no longer wanted", async () => {
  await createService({ selector: {} });
  await createEndpoints();
  await start();
  const set = (fields: object) => objects.update("endpoints", "web", (old) => ({ ...old, ...fields }));
  await set({ subsets: [{ addresses: [{ ip: "192.0.2.7" }], ports: [{ port: 81, protocol: "TCP" }] }] });
  expect(slices()).toMatchObject([{ endpoints: [{ addresses: ["192.0.2.7"] }], ports: [{ port: 81 }] }]);
  const { metadata } = endpoints() as coreV1.Endpoints;
  await set({ metadata: { ...metadata, labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } } });
  expect(slices()).toEqual([]);
});

test("a mirror ends when the service selects pods itself", async () => {
  await createService({ selector: {} });
  await createEndpoints();
  await start(["endpointslice-mirroring-controller"]);
  expect(slices()).toHaveLength(2);
  await objects.update("services", "web", (old) => ({ ...old, spec: { ...old.spec, selector } }));
  expect(slices()).toEqual([]);
});

test("a subset with more than 1000 addresses is mirrored in part, which an Event says", async () => {
  await createService({ selector: {} });
  const many = Array.from({ length: 1_005 }, (_, at) => ({ ip: `10.${at >> 8}.${at & 255}.1` }));
  await createEndpoints([{ addresses: many, ports: [{ port: 80, protocol: "TCP" }] }]);
  await start(["endpointslice-mirroring-controller"]);
  expect(slices()[0]?.endpoints).toHaveLength(1_000);
  expect(objects.events()).toEqual([
    "TooManyAddressesToMirror: A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 5 addresses were skipped",
  ]);
});
