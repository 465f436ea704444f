import { join } from "node:path";
import type { Lease } from "../../../src/api/types/coordination-v1.ts";
import type { Pod } from "../../../src/api/types/core-v1.ts";
import { type Client, httpClient, type ResourceType, readKubeconfig } from "../../../src/index.ts";
import { cpuSeconds, peakBytes, residentBytes, serve, serveSimulatedAgent, temporaryDirectory } from "../process.ts";
import { type Figure, type Options, percentile } from "../report.ts";

const nodesMax = 1_000;
const podsPerNode = 10;
const writers = 16;
const settleMs = 20_000;
/** Longest time between two renewals of a Lease: 10 s and 4 %. */
const renewMsMax = 10_400;
const namespace = "default";
const pods: ResourceType<Pod> = { group: "", version: "v1", resource: "pods" };
const leases: ResourceType<Lease> = { group: "coordination.k8s.io", version: "v1", resource: "leases" };

/** W19: simulated nodes with ten pods each in a process of their own, beside one server. */
export async function simulatedNodes({ seconds, scale }: Options): Promise<Figure[]> {
  const nodes = Math.max(1, Math.round(nodesMax * scale));
  await using directory = await temporaryDirectory();
  const kubeconfig = join(directory.path, "kubeconfig");
  await using server = await serve("server", directory.path, JSON.stringify({ kubeconfig }));
  const emptyBytes = await bytesWithoutNodes(kubeconfig);
  await using agent = await serveSimulatedAgent(kubeconfig, nodes);
  const registeredBytes = residentBytes(agent.pid);
  using client = httpClient(readKubeconfig(kubeconfig));
  const beganMs = performance.now();
  await createPods(client, nodes);
  const createdMs = performance.now() - beganMs;
  while ((await client.list(pods, { namespace, fieldSelector: "status.phase!=Running", limit: 1 })).items.length > 0) {
    await Bun.sleep(500);
  }
  const runningMs = performance.now() - beganMs;
  await Bun.sleep(settleMs);

  const before = { server: cpuSeconds(server.pid), agent: cpuSeconds(agent.pid) };
  const latenessMs = latenessOfHeartbeats(client, seconds);
  const getsMs = await timeGets(client, nodes, seconds);
  const used = (name: "server" | "agent", pid: number) => (100 * (cpuSeconds(pid) - before[name])) / seconds;
  const lateMs = await latenessMs;
  const bytes = residentBytes(agent.pid);
  return [
    { name: "nodes", value: nodes, unit: "", note: `${podsPerNode} pods each` },
    { name: "all pods created", value: createdMs / 1_000, unit: "s" },
    { name: "all pods running", value: runningMs / 1_000, unit: "s" },
    { name: "memory of the agent", value: bytes / 1e6, unit: "MB" },
    { name: "of it without nodes", value: emptyBytes / 1e6, unit: "MB" },
    { name: "per node", value: (registeredBytes - emptyBytes) / nodes / 1_000, unit: "kB", note: "before it has pods" },
    { name: "per pod", value: (bytes - registeredBytes) / nodes / podsPerNode / 1_000, unit: "kB" },
    { name: "highest memory of the agent", value: peakBytes(agent.pid) / 1e6, unit: "MB" },
    { name: "CPU of the agent", value: used("agent", agent.pid), unit: "%" },
    { name: "CPU of the server", value: used("server", server.pid), unit: "%" },
    { name: "lateness of heartbeats p99", value: percentile(lateMs, 0.99), unit: "ms", note: "beyond 10.4 s" },
    { name: "lateness of the latest", value: Math.max(...lateMs), unit: "ms", note: `of ${lateMs.length}` },
    { name: "GET p50", value: percentile(getsMs, 0.5), unit: "ms" },
    { name: "GET p99", value: percentile(getsMs, 0.99), unit: "ms" },
  ];
}

async function createPods(client: Client, nodes: number): Promise<void> {
  let next = 0;
  const create = async () => {
    for (let at = next++; at < nodes * podsPerNode; at = next++) {
      const nodeName = `node-${(at % nodes) + 1}`;
      await client.create(pods, {
        kind: "Pod",
        apiVersion: "v1",
        metadata: { name: `pod-${at}`, namespace, labels: { app: "web" } },
        spec: { nodeName, containers: [{ name: "main", image: "nginx" }] },
      });
    }
  };
  await Promise.all(Array.from({ length: writers }, create));
}

/** Returns the memory of an agent that simulates no nodes. */
async function bytesWithoutNodes(kubeconfig: string): Promise<number> {
  await using agent = await serveSimulatedAgent(kubeconfig, 0);
  return residentBytes(agent.pid);
}

/** Returns by how much each renewal of a Lease comes too late. */
async function latenessOfHeartbeats(client: Client, seconds: number): Promise<number[]> {
  const renewedMs = new Map<string, number>();
  const latenessMs: number[] = [];
  const watched = client.watch(leases, { namespace: "kube-node-lease", timeoutSeconds: Math.max(25, seconds) });
  for await (const event of watched) {
    if (event.type === "BOOKMARK") continue;
    const { name = "" } = event.object.metadata;
    const atMs = Date.parse(event.object.spec?.renewTime ?? "");
    const before = renewedMs.get(name);
    if (before !== undefined && atMs > before) latenessMs.push(Math.max(0, atMs - before - renewMsMax));
    renewedMs.set(name, atMs);
  }
  return latenessMs;
}

async function timeGets(client: Client, nodes: number, seconds: number): Promise<number[]> {
  const timesMs: number[] = [];
  for (const endMs = performance.now() + seconds * 1_000; performance.now() < endMs; ) {
    const beganMs = performance.now();
    await client.get(pods, { namespace, name: `pod-${timesMs.length % nodes}` });
    timesMs.push(performance.now() - beganMs);
    await Bun.sleep(5);
  }
  return timesMs;
}
