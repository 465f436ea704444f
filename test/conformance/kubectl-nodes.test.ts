import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Client } from "../../src/client/client.ts";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { HastenedClock } from "./hastened-clock.ts";
import { Kubectl } from "./kubectl.ts";

const clock = new HastenedClock();
const leases = { group: "coordination.k8s.io", version: "v1", resource: "leases" };

let server: RunningServer;
let client: Client;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startServer({ clock, allocateNodeCidrs: true, clusterCidr: "10.244.0.0/16" });
  client = server.client();
  kubectl = await Kubectl.open(server.kubeconfig);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  client[Symbol.dispose]();
  await server.close({ graceMs: 0 });
});

async function createNode(name: string, more: object = {}): Promise<void> {
  const now = new Date(clock.nowMs()).toISOString();
  const ready = {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  const node = { apiVersion: "v1", kind: "Node", metadata: { name }, ...more, status: { conditions: [ready] } };
  await kubectl.ok(["create", "-f", "-"], { input: JSON.stringify(node) });
}

async function createPod(name: string, nodeName: string, more: object = {}): Promise<void> {
  const spec = { nodeName, containers: [{ name: "c", image: "i" }], ...more };
  await kubectl.ok(["create", "-f", "-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec }),
  });
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  await kubectl.ok(["patch", "pod", name, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status })]);
}

/** Renews the Leases of nodes, as their agents do. */
function alive(...names: string[]): () => Promise<void> {
  return async () => {
    for (const name of names) {
      const spec = { holderIdentity: name, renewTime: new Date(clock.nowMs()).toISOString().replace("Z", "000Z") };
      const metadata = { name, namespace: "kube-node-lease" };
      const document = { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
      const options = { fieldManager: "kubelet" };
      await client.patch(leases, metadata, { kind: "apply", document, force: true }, options);
    }
  };
}

const deletionOf = async (pod: string) => (await kubectl.get(["pod", pod])).metadata.deletionTimestamp;

test("the pods of a silent node are evicted after its grace and theirs", async () => {
  await createNode("silent");
  await createNode("alive");
  await createPod("on-silent", "silent");
  await createPod("on-alive", "alive");
  await clock.pass(40, alive("alive"));
  expect(await kubectl.ok(["get", "nodes", "--no-headers"])).toMatch(/alive +Ready[^]*silent +Ready/);
  await clock.pass(20, alive("alive"));
  expect(await kubectl.ok(["get", "nodes", "--no-headers"])).toMatch(/alive +Ready[^]*silent +NotReady/);
  expect(await kubectl.ok(["describe", "node", "silent"])).toMatch(
    /Taints: +node.kubernetes.io\/unreachable:NoExecute\n +node.kubernetes.io\/unreachable:NoSchedule[^]*Kubelet stopped posting node status\.[^]*NodeNotReady/,
  );
  expect(await kubectl.ok(["get", "pod", "on-silent", "-o", "jsonpath={.status.conditions[0].status}"])).toBe("False");
  await clock.pass(270, alive("alive"));
  expect(await deletionOf("on-silent")).toBeUndefined();
  await clock.pass(40, alive("alive"));
  expect(await deletionOf("on-silent")).toBeDefined();
  expect(await deletionOf("on-alive")).toBeUndefined();
  expect(await kubectl.ok(["events", "--for", "pod/on-silent"])).toMatch(
    /Warning +NodeNotReady[^]*Normal +TaintManagerEviction[^]*Marking for deletion Pod default\/on-silent/,
  );
}, 60_000);

test("kubectl taint evicts pods that do not tolerate the taint, kubectl cordon evicts none", async () => {
  await createNode("tainted");
  await createPod("stays", "tainted", { tolerations: [{ key: "example.com/out", operator: "Exists" }] });
  await createPod("goes", "tainted");
  await kubectl.ok(["cordon", "tainted"]);
  await kubectl.ok([
    "wait",
    "node",
    "tainted",
    "--for=jsonpath={.spec.taints[0].key}=node.kubernetes.io/unschedulable",
  ]);
  expect(await deletionOf("goes")).toBeUndefined();
  await kubectl.ok(["taint", "node", "tainted", "example.com/out=:NoExecute"]);
  await kubectl.ok(["wait", "pod", "goes", "--for=jsonpath={.metadata.deletionTimestamp}", "--timeout=10s"]);
  expect(await deletionOf("stays")).toBeUndefined();
  await kubectl.ok(["uncordon", "tainted"]);
}, 60_000);

test("the pods of a node that was deleted go, and those of others stay", async () => {
  await createNode("deleted");
  await createNode("kept");
  await createPod("on-deleted", "deleted");
  await createPod("on-kept", "kept");
  await kubectl.ok(["delete", "node", "deleted"]);
  await clock.pass(65, alive("kept"));
  await kubectl.ok(["wait", "pod", "on-deleted", "--for=delete", "--timeout=10s"]);
  expect(await deletionOf("on-kept")).toBeUndefined();
}, 60_000);

test("nodes are annotated with the time for which agents may keep what they read", async () => {
  await createNode("annotated");
  await kubectl.ok([
    "wait",
    "node",
    "annotated",
    "--for=jsonpath={.metadata.annotations.node\\.alpha\\.kubernetes\\.io/ttl}=0",
    "--timeout=10s",
  ]);
});

test("a finished Job goes with its pods after the time that it names", async () => {
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
  for (const [name, spec] of [
    ["brief", { ttlSecondsAfterFinished: 100 }],
    ["endless", {}],
  ] as const) {
    const job = { apiVersion: "batch/v1", kind: "Job", metadata: { name }, spec: { template, ...spec } };
    await kubectl.ok(["create", "-f", "-"], { input: JSON.stringify(job) });
    const { metadata } = await kubectl.get(["job", name]);
    const owner = { apiVersion: "batch/v1", kind: "Job", name, uid: metadata.uid, controller: true };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: `${name}-1`, ownerReferences: [owner] } };
    await kubectl.ok(["create", "-f", "-"], { input: JSON.stringify({ ...pod, ...template }) });
    const now = new Date(clock.nowMs()).toISOString().replace(/\.\d+Z/, "Z");
    const ends = ["SuccessCriteriaMet", "Complete"].map((type) => ({
      type,
      status: "True",
      reason: "CompletionsReached",
      lastTransitionTime: now,
    }));
    const status = { startTime: now, completionTime: now, succeeded: 1, conditions: ends };
    await kubectl.ok(["patch", "job", name, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status })]);
  }
  await clock.pass(80);
  expect(await kubectl.ok(["get", "jobs", "--no-headers"])).toMatch(/brief[^]*endless/);
  await clock.pass(30);
  await kubectl.ok(["wait", "job", "brief", "--for=delete", "--timeout=10s"]);
  await kubectl.ok(["wait", "pod", "brief-1", "--for=delete", "--timeout=10s"]);
  expect(await kubectl.ok(["get", "job,pod", "-o", "name"])).toContain("job.batch/endless\n");
}, 60_000);

test("nodes have parts of the range of pods, and a part that comes back is not used at once", async () => {
  const rangeOf = async (name: string) => {
    await createNode(name);
    await kubectl.ok(["wait", "node", name, "--for=jsonpath={.spec.podCIDR}", "--timeout=10s"]);
    return kubectl.ok(["get", "node", name, "-o", "jsonpath={.spec.podCIDRs}"]);
  };
  const first = await rangeOf("ranged");
  expect(first).toMatch(/^\["10\.244\.\d+\.0\/24"\]$/);
  await kubectl.ok(["delete", "node", "ranged"]);
  expect(await rangeOf("ranged")).not.toBe(first);
}, 60_000);
