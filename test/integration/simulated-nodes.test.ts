import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { ownAddress } from "./own-address.ts";
import { configMap, pod, TestServer } from "./server.ts";

const directory = mkdtempSync(join(tmpdir(), "simulated-nodes-"));
let server: TestServer;
beforeAll(async () => {
  const simulationRules = join(directory, "rules.yaml");
  writeFileSync(simulationRules, 'images: [{names: ["slow.example/*"], after: 1h}]\n');
  server = await TestServer.start({ nodes: 2, simulationSeed: 7, simulationRules, controllers: "*" });
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

const pods = "/api/v1/namespaces/default/pods";
const onNode = (name: string, more: Record<string, unknown> = {}, metadata: Record<string, unknown> = {}) =>
  pod(name, { nodeName: "node-1", ...more }, metadata);
const read = async (path: string) => (await server.get(path)).json;
const untilPhase = (name: string, phase: string) =>
  until(
    () => read(`${pods}/${name}`),
    ({ status }) => status?.phase === phase,
  );

test("nodes are ready when the server has started", async () => {
  expect(server.running.simulatedNodes).toMatchObject({ names: ["node-1", "node-2"], seed: 7 });
  const { items } = await read("/api/v1/nodes");
  for (const { metadata, status } of items) {
    expect(metadata.labels).toMatchObject({ "kubernetes.io/hostname": metadata.name, "simulation.quorate/node": "" });
    expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
    expect(status.nodeInfo.containerRuntimeVersion).toStartWith("simulated://");
    expect(status.capacity).toMatchObject({ cpu: "8", pods: "110" });
  }
  const leases = await until(
    () => read("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"),
    (list) => list.items.length === 2,
  );
  expect(leases.items.map(({ spec }: { spec: any }) => spec.holderIdentity)).toEqual(["node-1", "node-2"]);
});

test("a node registers and reports as its own user, whom NodeRestriction limits", async () => {
  const client = server.running.client({ name: "system:node:node-1", groups: ["system:nodes"] });
  const type = { group: "", version: "v1", resource: "nodes" };
  const patch = { kind: "merge", document: { metadata: { labels: { a: "b" } } } } as const;
  await expect(client.patch(type, { name: "node-2" }, patch)).rejects.toThrow("is not allowed to modify node");
});

test("a pod runs, is read and ends", async () => {
  await server.create(pods, onNode("web", { terminationGracePeriodSeconds: 1 }));
  const { status } = await untilPhase("web", "Running");
  expect(status).toMatchObject({ podIP: expect.stringMatching(/^10\.24\d\./), hostIP: "127.0.0.1" });
  expect(status.containerStatuses[0]).toMatchObject({ ready: true, restartCount: 0, started: true });
  expect((await server.get(`${pods}/web/log`)).text).toBe(
    "simulated container main of image example.com/main:1 has started\n",
  );
  expect((await server.delete(`${pods}/web`)).code).toBe(200);
  await until(async () => (await server.get(`${pods}/web`)).code === 404);
});

test("a command that is understood decides how a pod ends", async () => {
  const containers = [{ name: "main", image: "busybox", command: ["sh", "-c", "echo $WHO; exit 3"] }];
  const env = [{ name: "WHO", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }];
  await server.create(pods, onNode("task", { restartPolicy: "Never", containers: [{ ...containers[0], env }] }));
  const { status } = await untilPhase("task", "Failed");
  expect(status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 3, reason: "Error" });
  expect((await server.get(`${pods}/task/log`)).text).toBe("task\n");
});

test("a container that fails once sees the file that it made before", async () => {
  const script = "if [ -e /data/seen ]; then echo again; exit 0; else touch /data/seen; exit 1; fi";
  const volumeMounts = [{ name: "data", mountPath: "/data" }];
  const containers = [{ name: "main", image: "busybox", command: ["sh", "-c", script], volumeMounts }];
  const volumes = [{ name: "data", emptyDir: {} }];
  await server.create(pods, onNode("once", { restartPolicy: "OnFailure", containers, volumes }));
  const { status } = await untilPhase("once", "Succeeded");
  expect(status.containerStatuses[0]).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 1 } } });
  expect((await server.get(`${pods}/once/log`)).text).toBe("again\n");
});

test("a pod whose image is still pulled can be deleted, and the next pull begins", async () => {
  await server.create(pods, onNode("slow", { containers: [{ name: "main", image: "slow.example/app:1" }] }));
  await until(
    () => read(`/api/v1/namespaces/default/events?fieldSelector=reason=Pulling,involvedObject.name=slow`),
    ({ items }) => items.length > 0,
  );
  await server.create(pods, onNode("quick", { containers: [{ name: "main", image: "quick.example/app:1" }] }));
  expect((await read(`${pods}/quick`)).status.phase).toBe("Pending");
  expect((await server.delete(`${pods}/slow`)).code).toBe(200);
  await until(async () => (await server.get(`${pods}/slow`)).code === 404);
  await untilPhase("quick", "Running");
});

test("an annotation decides what a pod does, and a wrong one says so", async () => {
  const annotated = (steps: string) => ({ annotations: { "simulation.quorate/steps": steps } });
  const never = { restartPolicy: "Never" };
  await server.create(pods, onNode("short", never, annotated("exit: {after: 10ms, code: 0}")));
  await untilPhase("short", "Succeeded");
  await server.create(pods, onNode("wrong", never, annotated("exit: {after: soon}")));
  const waiting = await until(
    async () => (await read(`${pods}/wrong`)).status.containerStatuses?.[0]?.state?.waiting,
    (state) => state?.reason === "CreateContainerError",
  );
  expect(waiting.message).toContain('annotation simulation.quorate/steps: exit.after: Invalid value: "soon"');
});

test("a pod waits for the objects of its volumes", async () => {
  const volumes = [{ name: "settings", configMap: { name: "later" } }];
  await server.create(pods, onNode("waits", { volumes }));
  const message = 'MountVolume.SetUp failed for volume "settings" : configmap "later" not found';
  await until(async () => {
    const { items } = await read("/api/v1/namespaces/default/events?fieldSelector=reason=FailedMount");
    return items.some((event: { message: string }) => event.message === message);
  });
  await server.create("/api/v1/namespaces/default/configmaps", configMap("later"));
  await untilPhase("waits", "Running");
});

test("an image of a registry that cannot exist is not pulled", async () => {
  await server.create(pods, onNode("broken", { containers: [{ name: "main", image: "registry.invalid/a:1" }] }));
  await until(async () => {
    const state = (await read(`${pods}/broken`)).status.containerStatuses?.[0]?.state;
    return ["ErrImagePull", "ImagePullBackOff"].includes(state?.waiting?.reason);
  });
});

test("a node under pressure evicts pods, has a condition and a taint, and refuses more", async () => {
  const onSecond = (name: string, more: Record<string, unknown> = {}) => pod(name, { nodeName: "node-2", ...more });
  await server.create(pods, onSecond("victim"));
  await server.create(pods, onSecond("critical", { priorityClassName: "system-node-critical" }));
  await untilPhase("victim", "Running");
  await untilPhase("critical", "Running");
  const node = "/api/v1/nodes/node-2";
  const annotate = (value: string | null) =>
    server.patch(node, "application/merge-patch+json", {
      metadata: { annotations: { "simulation.quorate/available": value } },
    });
  expect((await annotate("memory.available=50Mi")).code).toBe(200);
  const { status } = await untilPhase("victim", "Failed");
  const message =
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. " +
    "Container main was using 16Mi, request is 0, has larger consumption of memory. ";
  expect(status).toMatchObject({ reason: "Evicted", message });
  expect(status.conditions).toContainEqual(
    expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet", message }),
  );
  const { items } = await until(
    () => read("/api/v1/namespaces/default/events?fieldSelector=reason=Evicted"),
    (list) => list.items.length > 0,
  );
  expect(items[0]).toMatchObject({ type: "Warning", involvedObject: { name: "victim" }, message });
  expect(items[0].metadata.annotations).toMatchObject({ offending_containers: "main", starved_resource: "memory" });
  const { status: ofNode } = await until(
    () => read(node),
    ({ spec }) =>
      spec.taints?.some(({ key }: { key: string }) => key === "node.kubernetes.io/memory-pressure") === true,
  );
  expect(ofNode.conditions).toContainEqual(expect.objectContaining({ type: "MemoryPressure", status: "True" }));
  await server.create(pods, onSecond("late"));
  expect((await untilPhase("late", "Failed")).status).toMatchObject({
    reason: "Evicted",
    message: "Pod was rejected: The node had condition: [MemoryPressure]. ",
  });
  expect((await read(`${pods}/critical`)).status.phase).toBe("Running");
  expect((await annotate(null)).code).toBe(200);
});

test("the endpoint refuses strangers", async () => {
  const { json } = await server.get("/api/v1/nodes/node-1");
  const { Port } = json.status.daemonEndpoints.kubeletEndpoint;
  const answer = await fetch(`https://127.0.0.1:${Port}/pods`, { tls: { ca: server.running.ca } });
  expect(answer.status).toBe(401);
});

test("nodes of a server that others reach are reached through the proxy", async () => {
  const address = ownAddress();
  await using reachable = await TestServer.start({ nodes: 1, bindAddress: address });
  await reachable.create(pods, onNode("web"));
  const { status } = (await reachable.get("/api/v1/nodes/node-1")).json;
  expect(status.addresses).toContainEqual({ type: "InternalIP", address });
  await until(async () => {
    const { json } = await reachable.get("/api/v1/nodes/node-1/proxy/pods");
    return json.items.some(({ metadata }: { metadata: { name: string } }) => metadata.name === "web");
  });
});
