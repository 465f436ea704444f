import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningServer } from "../../src/index.ts";
import { startServer } from "../etcd/start-server.ts";
import { Kubectl } from "./kubectl.ts";

let server: RunningServer;
let kubectl: Kubectl;

beforeAll(async () => {
  server = await startServer({});
  kubectl = await Kubectl.open(server.kubeconfig);
});

afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await server.close({ graceMs: 0 });
});

async function runPod(name: string): Promise<void> {
  const container = { name: "c", image: "example.com/web:1" };
  const metadata = { name, labels: { app: "web" } };
  await kubectl.apply({ apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [container] } });
  const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
  await kubectl.ok(["patch", "pod", name, "--subresource=status", "--type=merge", "-p", JSON.stringify({ status })]);
}

const allows = (count: number) =>
  kubectl.ok(["wait", "pdb/web", `--for=jsonpath={.status.disruptionsAllowed}=${count}`, "--timeout=10s"]);
const eviction = (name: string) => ({ apiVersion: "policy/v1", kind: "Eviction", metadata: { name } });
const evict = async (name: string) =>
  kubectl.run(["create", "--raw", `/api/v1/namespaces/default/pods/${name}/eviction`, "-f", "-"], {
    input: JSON.stringify(eviction(name)),
  });

test("a disruption budget lets as many pods go as it has to spare", async () => {
  await kubectl.ok(["create", "poddisruptionbudget", "web", "--selector=app=web", "--min-available=1"]);
  await kubectl.ok(["wait", "pdb/web", "--for=jsonpath={.status.observedGeneration}=1", "--timeout=10s"]);
  await runPod("web-1");
  await runPod("web-2");
  await allows(1);
  expect(await kubectl.ok(["get", "pdb", "web"])).toMatch(/^web +1 +N\/A +1 /m);
  expect(await kubectl.ok(["wait", "pdb/web", "--for=condition=DisruptionAllowed"])).toContain("condition met");

  expect((await evict("web-1")).code).toBe(0);
  const refused = await evict("web-2");
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain("Cannot evict pod as it would violate the pod's disruption budget.");
  await kubectl.ok(["wait", "pdb/web", "--for=jsonpath={.status.expectedPods}=1", "--timeout=10s"]);

  await runPod("web-3");
  await allows(1);
  expect((await kubectl.get(["pdb", "web"])).status).toMatchObject({ currentHealthy: 2, desiredHealthy: 1 });
  expect((await evict("web-2")).code).toBe(0);
});
