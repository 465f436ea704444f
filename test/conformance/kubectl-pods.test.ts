import { afterAll, beforeAll, expect, test } from "bun:test";
import { followPods } from "../../src/agent/pods/follow-pods.ts";
import { PodManager } from "../../src/agent/pods/pod-manager.ts";
import { Schedule } from "../../src/agent/pods/schedule.ts";
import { StatusWriter } from "../../src/agent/pods/status-writer.ts";
import { MemoryPodFiles } from "../../src/agent/pods/testing.ts";
import { RuntimeError } from "../../src/agent/runtime/runtime.ts";
import { FakeRuntime } from "../../src/agent/runtime/testing.ts";
import type { Node } from "../../src/api/types/core-v1.ts";
import { httpClient } from "../../src/client/http-client.ts";
import { clientEventRecorder } from "../../src/controllers/events/client-event-recorder.ts";
import { type RunningServer, startServer } from "../../src/index.ts";
import { systemClock } from "../../src/process/clock.ts";
import { until } from "../until.ts";
import { Kubectl, quietControllers } from "./kubectl.ts";

const clock = systemClock;
const runtime = new FakeRuntime(clock);
const errors: unknown[] = [];
const onError = (error: unknown): void => void errors.push(error);
const parts = new AsyncDisposableStack();
const node = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } } satisfies Node;
let server: RunningServer;
let kubectl: Kubectl;

beforeAll(async () => {
  const controllers = `${quietControllers},-node-lifecycle-controller,-taint-eviction-controller`;
  server = await startServer({ controllers });
  parts.defer(() => server.close({ graceMs: 0 }));
  kubectl = parts.use(await Kubectl.open(server.kubeconfig));
  const { url, ca, token } = server;
  const proof = async () => ({ tls: { ca, rejectUnauthorized: true }, authorization: `Bearer ${token}` });
  const client = parts.use(httpClient({ url, proof, renew: () => false }));
  const manager = parts.use(
    await PodManager.open({
      client,
      clock,
      schedule: parts.use(new Schedule(clock)),
      writer: new StatusWriter(client),
      recorder: parts.use(clientEventRecorder({ client, clock, component: "kubelet", onError })),
      random: Math.random,
      onError,
      nodeName: node.metadata.name,
      runtime,
      files: new MemoryPodFiles(),
      logDirectory: "/var/log/pods",
      node: () => ({ ...node, status: { allocatable: { cpu: "2", memory: "4Gi", pods: "110" } } }),
      hostIps: () => ["192.0.2.1"],
    }),
  );
  await kubectl.apply(node);
  parts.use(followPods({ client, clock, random: Math.random, nodeName: "node-1", managerOf: () => manager, onError }));
});

afterAll(async () => {
  await parts.disposeAsync();
  expect(errors).toEqual([]);
});

/** A pod that is bound to the node already. */
function pod(name: string, spec: object = {}): object {
  const containers = [{ name: "web", image: "nginx:1" }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { containers, nodeName: "node-1", ...spec } };
}

async function uidOf(name: string): Promise<string> {
  return (await kubectl.get(["pod", name])).metadata.uid;
}

test("kubectl get -w shows a pod from its creation to its end", async () => {
  await using watch = kubectl.start(["get", "pods", "--watch", "--no-headers"]);
  await kubectl.apply(pod("web"));
  await kubectl.ok(["wait", "--for=condition=Ready", "pod/web"]);
  await kubectl.ok(["delete", "pod", "web", "--now=false"]);
  const printed = await watch.until((text) => /Completed|Terminating/.test(text));
  const lines = printed
    .trim()
    .split("\n")
    .map((line) => line.split(/\s+/).slice(0, 4).join(" "));
  expect(lines).toContain("web 1/1 Running 0");
  expect((await kubectl.run(["get", "pod", "web"])).stderr).toContain('pods "web" not found');
});

test("kubectl describe shows the Events of a pod", async () => {
  await kubectl.apply(pod("described"));
  await kubectl.ok(["wait", "--for=condition=Ready", "pod/described"]);
  await until(async () => (await kubectl.ok(["describe", "pod", "described"])).includes("Container started"));
  const text = await kubectl.ok(["describe", "pod", "described"]);
  expect(text).toMatch(/Normal +Pulled +\S+ +kubelet +Container image "nginx:1" already present on machine/);
  expect(text).toContain("Container ID:   fake://container-");
});

test("a container that fails again and again is in CrashLoopBackOff", async () => {
  await kubectl.apply(pod("crashing"));
  await kubectl.ok(["wait", "--for=condition=Ready", "pod/crashing"]);
  const uid = await uidOf("crashing");
  runtime.exit(uid, "web", 1);
  await until(async () => (await kubectl.get(["pod", "crashing"])).status.containerStatuses[0].restartCount === 1);
  runtime.exit(uid, "web", 1);
  await until(async () => (await kubectl.ok(["get", "pod", "crashing"])).includes("CrashLoopBackOff"));
  expect(await kubectl.ok(["get", "pod", "crashing"])).toMatch(/crashing +0\/1 +CrashLoopBackOff +1 \(/);
});

test("an image that cannot be pulled is shown", async () => {
  runtime.pullErrors.set("missing:1", new RuntimeError("ErrImagePull", "manifest unknown"));
  await kubectl.apply(pod("pulling", { containers: [{ name: "web", image: "missing:1" }] }));
  await until(async () => (await kubectl.ok(["get", "pod", "pulling"])).includes("ErrImagePull"));
  await until(async () => (await kubectl.ok(["get", "pod", "pulling"])).includes("ImagePullBackOff"));
  const { waiting } = (await kubectl.get(["pod", "pulling"])).status.containerStatuses[0].state;
  expect(waiting.message).toBe('Back-off pulling image "missing:1": ErrImagePull: manifest unknown');
  await kubectl.ok(["delete", "pod", "pulling"]);
});

test("a pod that the node has no room for is rejected", async () => {
  const containers = [{ name: "web", image: "nginx:1", resources: { requests: { cpu: "3" } } }];
  await kubectl.apply(pod("large", { containers }));
  await until(async () => (await kubectl.ok(["get", "pod", "large"])).includes("OutOfcpu"));
  const { status } = await kubectl.get(["pod", "large"]);
  expect(status).toMatchObject({
    phase: "Failed",
    message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000",
  });
});

test("an evicted pod is stopped and removed", async () => {
  await kubectl.apply(pod("evicted"));
  await kubectl.ok(["wait", "--for=condition=Ready", "pod/evicted"]);
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "evicted" } };
  await kubectl.ok(["create", "--raw", "/api/v1/namespaces/default/pods/evicted/eviction", "-f", "-"], {
    input: JSON.stringify(eviction),
  });
  await until(async () => (await kubectl.run(["get", "pod", "evicted"])).code === 1);
  expect(runtime.log).toContain("stop web#0 30");
});

test("a running pod is given other resources", async () => {
  const resources = { requests: { cpu: "100m" }, limits: { cpu: "100m" } };
  await kubectl.apply(pod("resized", { containers: [{ name: "web", image: "nginx:1", resources }] }));
  await kubectl.ok(["wait", "--for=condition=Ready", "pod/resized"]);
  const wanted = { limits: { cpu: "200m" }, requests: { cpu: "200m" } };
  const patch = JSON.stringify({ spec: { containers: [{ name: "web", resources: wanted }] } });
  await kubectl.ok(["patch", "pod", "resized", "--subresource=resize", "--patch", patch]);
  const statusOf = async () => (await kubectl.get(["pod", "resized"])).status;
  await until(async () => (await statusOf()).containerStatuses[0].resources.requests.cpu === "200m");
  expect(runtime.log).toContain(`resize web ${JSON.stringify(wanted)}`);
  expect((await statusOf()).containerStatuses[0]).toMatchObject({
    restartCount: 0,
    allocatedResources: { cpu: "200m" },
  });
});

test("kubectl debug adds a container to a running pod", async () => {
  await kubectl.apply(pod("debugged"));
  await kubectl.ok(["wait", "--for=condition=Ready", "pod/debugged"]);
  await kubectl.ok(["debug", "debugged", "--image=busybox:1", "--container=debugger", "--attach=false"]);
  const statuses = async () => (await kubectl.get(["pod", "debugged"])).status.ephemeralContainerStatuses ?? [];
  await until(async () => (await statuses())[0]?.state.running !== undefined);
  expect(await statuses()).toMatchObject([{ name: "debugger", image: "busybox:1", restartCount: 0 }]);
});
