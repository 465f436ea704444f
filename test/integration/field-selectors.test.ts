import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mergePatch, pod, TestServer } from "./server.ts";

let server: TestServer;
let namespace: string;
let root: string;
beforeAll(async () => {
  server = await TestServer.start();
  namespace = await server.namespace();
  root = `/api/v1/namespaces/${namespace}`;
});
afterAll(() => server.close());

async function selected(path: string, selector: string): Promise<string[]> {
  const { code, json } = await server.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`);
  expect({ code, message: json.message }).toEqual({ code: 200, message: undefined });
  return json.items.map(({ metadata }: any) => metadata.name);
}

describe("pods by field", () => {
  beforeAll(async () => {
    await server.create(`${root}/pods`, pod("a", { nodeName: "n1", hostNetwork: true, restartPolicy: "Never" }));
    await server.create(`${root}/pods`, pod("b", { schedulerName: "mine" }));
    const status = { phase: "Running", podIP: "10.0.0.5", podIPs: [{ ip: "10.0.0.5" }], nominatedNodeName: "n2" };
    await server.patch(`${root}/pods/b/status`, mergePatch, { status });
  });

  test.each([
    ["spec.nodeName=n1", ["a"]],
    ["spec.nodeName=", ["b"]],
    ["spec.nodeName!=n1", ["b"]],
    ["spec.host=n1", ["a"]],
    ["spec.restartPolicy=Never", ["a"]],
    ["spec.schedulerName=mine", ["b"]],
    ["spec.hostNetwork=true", ["a"]],
    ["spec.hostNetwork=false", ["b"]],
    ["status.phase=Running", ["b"]],
    ["status.phase!=Running", ["a"]],
    ["status.podIP=10.0.0.5", ["b"]],
    ["status.podIPs=10.0.0.5", []],
    ["status.podIPs=", ["a", "b"]],
    ["status.nominatedNodeName=n2", ["b"]],
    ["spec.nodeName=n1,status.phase=Pending", ["a"]],
  ])("%s gives %j", async (selector, names) => {
    expect(await selected(`${root}/pods`, selector)).toEqual(names);
  });
});

describe("other kinds by field", () => {
  test("secrets by type, services by type and address", async () => {
    await server.create(`${root}/secrets`, { metadata: { name: "s" }, type: "example.com/x" });
    await server.create(`${root}/secrets`, { metadata: { name: "t" } });
    expect(await selected(`${root}/secrets`, "type=example.com/x")).toEqual(["s"]);
    expect(await selected(`${root}/secrets`, "type!=example.com/x")).toEqual(["t"]);
    await server.create(`${root}/services`, {
      metadata: { name: "e" },
      spec: { type: "ExternalName", externalName: "x.example" },
    });
    await server.create(`${root}/services`, {
      metadata: { name: "h" },
      spec: { clusterIP: "None", selector: { a: "b" } },
    });
    expect(await selected(`${root}/services`, "spec.type=ExternalName")).toEqual(["e"]);
    expect(await selected(`${root}/services`, "spec.clusterIP=None")).toEqual(["h"]);
  });

  test("namespaces by phase, nodes by unschedulable, whose absence is false", async () => {
    expect(await selected("/api/v1/namespaces", "status.phase=Active")).toContain(namespace);
    expect(await selected("/api/v1/namespaces", "status.phase=Terminating")).toEqual([]);
    await server.create("/api/v1/nodes", { metadata: { name: "field-a" } });
    await server.create("/api/v1/nodes", { metadata: { name: "field-b" }, spec: { unschedulable: true } });
    expect(await selected("/api/v1/nodes", "spec.unschedulable=true")).toEqual(["field-b"]);
    expect(await selected("/api/v1/nodes", "spec.unschedulable=false,metadata.name!=x")).toEqual(["field-a"]);
  });

  test("jobs and replication controllers by counts, whose absence is 0", async () => {
    const template = {
      metadata: { labels: { a: "b" } },
      spec: { restartPolicy: "Never", containers: [{ name: "m", image: "i" }] },
    };
    const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
    await server.create(jobs, { metadata: { name: "j" }, spec: { template } });
    expect(await selected(jobs, "status.successful=0")).toEqual(["j"]);
    expect(await selected(jobs, "status.successful=1")).toEqual([]);
    const always = { ...template, spec: { ...template.spec, restartPolicy: "Always" } };
    await server.create(`${root}/replicationcontrollers`, {
      metadata: { name: "r" },
      spec: { replicas: 1, selector: { a: "b" }, template: always },
    });
    expect(await selected(`${root}/replicationcontrollers`, "status.replicas=0")).toEqual(["r"]);
  });

  test("events of both groups by their object", async () => {
    const involvedObject = { kind: "Pod", namespace, name: "p", uid: "u", fieldPath: "spec.containers{m}" };
    await server.create(`${root}/events`, {
      metadata: { name: "ev" },
      involvedObject,
      reason: "Started",
      type: "Normal",
      source: { component: "kubelet" },
    });
    for (const selector of [
      "involvedObject.name=p,involvedObject.kind=Pod",
      "source=kubelet",
      "reason=Started,type=Normal",
    ]) {
      expect(await selected(`${root}/events`, selector)).toEqual(["ev"]);
    }
    const modern = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
    expect(await selected(modern, "regarding.uid=u,regarding.fieldPath=spec.containers{m}")).toEqual(["ev"]);
    expect(await selected(modern, "regarding.name=q")).toEqual([]);
  });
});

test.each([
  ["/api/v1/pods", "spec.image", "field label not supported: spec.image"],
  ["/api/v1/nodes", "metadata.namespace", "field label not supported: metadata.namespace"],
  ["/api/v1/namespaces", "metadata.namespace", "field label not supported: metadata.namespace"],
  ["/api/v1/events", "regarding.name", "field label not supported: regarding.name"],
  ["/apis/batch/v1/jobs", "status.failed", 'field label "status.failed" not supported for Job'],
  [
    "/apis/certificates.k8s.io/v1/certificatesigningrequests",
    "metadata.namespace",
    "field label not supported: metadata.namespace",
  ],
  [
    "/apis/resource.k8s.io/v1/resourceslices",
    "spec.pool",
    "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.pool",
  ],
  [
    "/apis/apps/v1/deployments",
    "spec.replicas",
    '"spec.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
])("%s by %s is a 400 that names the label", async (path, label, message) => {
  const { code, json } = await server.get(`${path}?fieldSelector=${label}%3Dx`);
  expect({ code, reason: json.reason, message: json.message }).toEqual({ code: 400, reason: "BadRequest", message });
});

test("a kind of the cluster has an empty namespace to select by", async () => {
  const path = "/apis/storage.k8s.io/v1/storageclasses";
  await server.create(path, { metadata: { name: "fast" }, provisioner: "example.com/p" });
  expect(await selected(path, "metadata.namespace=")).toEqual(["fast"]);
  expect(await selected(path, "metadata.namespace=default")).toEqual([]);
});

test("a watch by field turns an object that no longer matches into a deletion", async () => {
  await server.create(`${root}/pods`, pod("watched"));
  const { resourceVersion } = (await server.get(`${root}/pods`)).json.metadata;
  await using watch = await server.watch(
    `${root}/pods?fieldSelector=status.phase%3DPending,metadata.name%3Dwatched&resourceVersion=${resourceVersion}`,
  );
  await server.patch(`${root}/pods/watched/status`, mergePatch, { status: { phase: "Running" } });
  await server.patch(`${root}/pods/watched/status`, mergePatch, { status: { phase: "Pending" } });
  expect((await watch.take(2)).map(({ type, object }) => `${type} ${object.status.phase}`)).toEqual([
    "DELETED Pending",
    "ADDED Pending",
  ]);
});
