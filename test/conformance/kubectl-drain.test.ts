import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { until } from "../until.ts";
import { Kubectl, quietControllers } from "./kubectl.ts";

const timeoutMs = 60_000;

let server: RunningServer;
let kubectl: Kubectl;
beforeAll(async () => {
  server = await startServer({ controllers: quietControllers });
  kubectl = await Kubectl.open(server.kubeconfig);
  await kubectl.apply({
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: "n1", labels: { "node-role.kubernetes.io/worker": "" } },
    status: {
      conditions: [{ type: "Ready", status: "True" }],
      addresses: [{ type: "InternalIP", address: "10.0.0.1" }],
      nodeInfo: { kubeletVersion: "v1.36.0" },
    },
  });
});
afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

async function runningPod(name: string, labels: Record<string, string>): Promise<void> {
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "x", uid: "x", controller: true };
  await kubectl.apply({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels, ownerReferences: [owner] },
    spec: { nodeName: "n1", containers: [{ name: "main", image: "registry.example/main:1" }] },
  });
  await patchStatus(`pod/${name}`, { phase: "Running", conditions: [{ type: "Ready", status: "True" }] });
}

async function patchStatus(object: string, status: object): Promise<void> {
  await kubectl.ok(["patch", object, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status })]);
}

async function budget(disruptionsAllowed: number): Promise<void> {
  await patchStatus("pdb/web", {
    observedGeneration: 1,
    disruptionsAllowed,
    currentHealthy: 2,
    desiredHealthy: 2 - disruptionsAllowed,
    expectedPods: 2,
  });
}

test(
  "drain evicts the pods that the budgets allow, and waits for the others",
  async () => {
    await kubectl.ok(["create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=1"]);
    await runningPod("a", { app: "web" });
    await runningPod("b", { app: "web" });
    await runningPod("free", { app: "other" });

    await budget(2);
    const dry = await kubectl.ok(["drain", "n1", "--dry-run=server"]);
    expect(dry).toContain("node/n1 cordoned (server dry run)");
    expect(dry).toContain("evicting pod default/a (server dry run)");
    expect(dry).toContain("node/n1 drained (server dry run)");
    expect((await kubectl.get(["node", "n1"])).spec.unschedulable).toBeUndefined();
    expect((await kubectl.get(["pdb", "web"])).status.disruptionsAllowed).toBe(2);

    await budget(0);
    await using drain = kubectl.start(["drain", "n1", "--grace-period=1"]);
    await drain.until((printed) => printed.includes("evicting pod default/b"));
    await until(async () => (await kubectl.get(["pod", "free"])).metadata.deletionTimestamp !== undefined);
    const pods = await kubectl.get(["pods", "a", "b"]);
    expect(pods.items.map(({ metadata }: any) => metadata.deletionTimestamp)).toEqual([undefined, undefined]);
    expect(await kubectl.ok(["get", "node", "n1"])).toContain("Ready,SchedulingDisabled");
  },
  timeoutMs,
);

test(
  "a rejected drain shows the budget's message",
  async () => {
    const { code, stdout, stderr } = await kubectl.run(["drain", "n1", "--timeout=1s"]);
    expect(code).not.toBe(0);
    expect(stdout + stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
  },
  timeoutMs,
);

describe("nodes", () => {
  test("cordon, uncordon and taint", async () => {
    await kubectl.ok(["uncordon", "n1"]);
    expect(await kubectl.ok(["cordon", "n1"])).toBe("node/n1 cordoned\n");
    expect(await kubectl.ok(["uncordon", "n1"])).toBe("node/n1 uncordoned\n");
    expect(await kubectl.ok(["taint", "nodes", "n1", "a=b:NoSchedule"])).toBe("node/n1 tainted\n");
    expect(await kubectl.ok(["taint", "nodes", "n1", "a-"])).toBe("node/n1 untainted\n");
  });

  test("get and describe", async () => {
    const printed = await kubectl.ok(["get", "nodes", "-o", "wide"]);
    expect(printed).toMatch(/^n1 +Ready +worker +\S+ +v1\.36\.0 +10\.0\.0\.1 +<none> /m);
    const described = await kubectl.ok(["describe", "node", "n1"]);
    expect(described).toContain("Roles:              worker");
    expect(described).toMatch(/default +a +0 \(/);
  });
});
