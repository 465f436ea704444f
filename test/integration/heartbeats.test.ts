import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AgentNode } from "../../src/agent/node/agent-node.ts";
import { nodeType } from "../../src/agent/node/node-registration.ts";
import { nodeDefaults } from "../../src/agent/node/node-settings.ts";
import { FakeMachine } from "../../src/agent/node/testing.ts";
import type { Node } from "../../src/api/types/core-v1.ts";
import { httpClient } from "../../src/client/http-client.ts";
import { Informer } from "../../src/client/informer.ts";
import { readKubeconfig } from "../../src/client/kubeconfig.ts";
import { type Clock, systemClock } from "../../src/process/clock.ts";
import { BenchCluster } from "../bench/cluster.ts";
import { until } from "../until.ts";
import { AgentProcess, kubeconfigAt, NetworkPath } from "./agent-process.ts";
import { MemberProcess } from "./member-process.ts";

/**
 * Tests of heartbeats with real processes and short periods. A node that is silent for 3 s is unreachable, and its pods
 * are evicted one second later. Agents beat every 500 ms.
 */

const root = mkdtempSync(join(tmpdir(), "quorate-heartbeats-"));
const graceMs = 3_000;
const serverFlags = [
  "--node-monitor-period=200ms",
  `--node-monitor-grace-period=${graceMs}ms`,
  `--node-startup-grace-period=${graceMs}ms`,
  "--node-eviction-rate=10",
];
const beats = { leaseDurationSeconds: 2, statusUpdateMs: 500, statusReportMs: 60_000 };
const agentFlags = [
  "--runtime=simulated",
  "--address=127.0.0.1",
  "--port=0",
  "--node-ip=127.0.0.1",
  "--node-lease-duration-seconds=2",
  "--node-status-update-frequency=500ms",
  "--node-status-report-frequency=1m",
];

interface Server {
  request(method: string, path: string, body?: object): Promise<{ code: number; json: any }>;
}

afterAll(() => rmSync(root, { recursive: true, force: true }));

const node = async (server: Server, name: string): Promise<any> =>
  (await server.request("GET", `/api/v1/nodes/${name}`)).json;
const readiness = async (server: Server, name: string): Promise<string> => {
  const { status } = await node(server, name);
  return status?.conditions?.find(({ type }: any) => type === "Ready")?.status ?? "absent";
};
const evictingTaints = async (server: Server, name: string): Promise<string[]> => {
  const { spec } = await node(server, name);
  return (spec?.taints ?? []).filter(({ effect }: any) => effect === "NoExecute").map(({ key }: any) => key);
};

async function bindPod(server: Server, name: string, nodeName: string): Promise<void> {
  const toleration = { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" };
  const { code, json } = await server.request("POST", "/api/v1/namespaces/default/pods", {
    metadata: { name },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 30,
      containers: [{ name: "main", image: "example.com/main:1" }],
      tolerations: [{ ...toleration, tolerationSeconds: 1 }],
    },
  });
  expect({ code, message: json.message }).toEqual({ code: 201, message: undefined });
}

const isEvicted = async (server: Server, name: string): Promise<boolean> => {
  const { code, json } = await server.request("GET", `/api/v1/namespaces/default/pods/${name}`);
  return code === 404 || json.metadata.deletionTimestamp !== undefined;
};

/** A node without an agent's process, which keeps a zone from being disrupted as a whole. */
function quietNode(kubeconfig: string, name: string, clock: Clock = systemClock): Disposable {
  const parts = new DisposableStack();
  const client = parts.use(httpClient(readKubeconfig(kubeconfig), { clock: systemClock }));
  const random = Math.random;
  const selector = { fieldSelector: `metadata.name=${name}` };
  const nodes = parts.use(
    new Informer<Node>({ client, type: nodeType, selector, clock: systemClock, random, onError() {} }),
  );
  parts.use(
    new AgentNode({
      client,
      settings: { ...nodeDefaults, ...beats, name, hostname: name, version: "v1.36.2" },
      machine: new FakeMachine(),
      runtime: { version: "simulated://1", problems: async () => [], images: async () => [] },
      pressures: () => new Set(),
      clock,
      random,
      cached: () => nodes.get(name),
      record() {},
      onError() {},
    }),
  );
  return parts;
}

/** Watches a node for a while, and returns everything other than readiness that it saw. */
async function troubles(server: Server, name: string, forMs: number): Promise<string[]> {
  const seen = new Set<string>();
  for (const endMs = performance.now() + forMs; performance.now() < endMs; await Bun.sleep(100)) {
    // The server itself may be away for a moment, which says nothing about the node.
    const status = await readiness(server, name).catch(() => "True");
    if (status !== "True") seen.add(`Ready ${status}`);
    for (const taint of await evictingTaints(server, name).catch(() => [])) seen.add(taint);
  }
  return [...seen];
}

describe("a silent node is unreachable and its pods are evicted, until it beats again", () => {
  let server: MemberProcess;
  let agent: AgentProcess;
  let path: NetworkPath;
  const others = new DisposableStack();

  beforeAll(async () => {
    server = await MemberProcess.create(root, "single");
    await server.start(["up"], ["--data-dir", server.directory, "--secure-port", `${server.port}`, ...serverFlags]);
    path = await NetworkPath.to(server.port);
    const kubeconfig = kubeconfigAt(server.kubeconfig, path.port, join(root, "through-path"));
    agent = new AgentProcess(
      ...agentFlags,
      "--hostname-override=victim",
      `--root-dir=${join(root, "victim")}`,
      `--kubeconfig=${kubeconfig}`,
    );
    await agent.start();
    for (const name of ["quiet-1", "quiet-2"]) others.use(quietNode(server.kubeconfig, name));
    await until(
      () => readiness(server, "victim"),
      (status) => status === "True",
    );
    await until(async () => (await evictingTaints(server, "victim")).length === 0);
  }, 60_000);

  afterAll(async () => {
    others.dispose();
    path[Symbol.dispose]();
    await agent[Symbol.asyncDispose]();
    await server.stop();
  });

  async function becomesUnreachable(pod: string): Promise<void> {
    await until(
      () => readiness(server, "victim"),
      (status) => status === "Unknown",
    );
    await until(
      () => evictingTaints(server, "victim"),
      (taints) => taints.includes("node.kubernetes.io/unreachable"),
    );
    await until(() => isEvicted(server, pod));
    const { status } = await node(server, "victim");
    expect(status.conditions.find(({ type }: any) => type === "Ready")).toMatchObject({
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
    });
    expect(await evictingTaints(server, "quiet-1")).toEqual([]);
  }

  async function recovers(): Promise<void> {
    await until(
      () => readiness(server, "victim"),
      (status) => status === "True",
    );
    await until(async () => (await evictingTaints(server, "victim")).length === 0);
  }

  test("when its agent is killed, and started again", async () => {
    await bindPod(server, "killed", "victim");
    await agent.stop("SIGKILL");
    await becomesUnreachable("killed");
    await agent.start();
    await recovers();
  }, 60_000);

  test("when its agent is stopped as by SIGSTOP, and continued", async () => {
    await bindPod(server, "paused", "victim");
    agent.signal("SIGSTOP");
    await becomesUnreachable("paused");
    agent.signal("SIGCONT");
    await recovers();
  }, 60_000);

  test("when it is partitioned from the server, and reachable again", async () => {
    await bindPod(server, "partitioned", "victim");
    path.cut();
    await becomesUnreachable("partitioned");
    path.heal();
    await recovers();
  }, 60_000);

  test("but not when it misses a few heartbeats", async () => {
    await bindPod(server, "patient", "victim");
    agent.signal("SIGSTOP");
    await Bun.sleep(graceMs / 3);
    agent.signal("SIGCONT");
    expect(await troubles(server, "victim", 2 * graceMs)).toEqual([]);
    expect(await isEvicted(server, "patient")).toBe(false);
  }, 60_000);

  test("and not when its clock is moved an hour back, or forward", async () => {
    let offsetMs = 0;
    const clock = { ...systemClock, nowMs: () => Date.now() + offsetMs };
    using _moved = quietNode(server.kubeconfig, "moved", clock);
    await until(
      () => readiness(server, "moved"),
      (status) => status === "True",
    );
    for (const offset of [-3_600_000, 3_600_000, 0]) {
      offsetMs = offset;
      expect(await troubles(server, "moved", 1.3 * graceMs)).toEqual([]);
    }
  }, 60_000);

  test("and not when the server was stopped for longer than the grace period", async () => {
    await bindPod(server, "untouched", "victim");
    server.signal("SIGSTOP");
    await Bun.sleep(2 * graceMs);
    server.signal("SIGCONT");
    expect(await troubles(server, "victim", 2 * graceMs)).toEqual([]);
    expect(await isEvicted(server, "untouched")).toBe(false);
  }, 60_000);

  test("and not when the server was down for longer than the grace period", async () => {
    // Agents try again after 7 s at most, so the grace period has to be longer.
    const longerMs = 9_000;
    const flags = ["--data-dir", server.directory, "--secure-port", `${server.port}`, ...serverFlags];
    await bindPod(server, "outlived", "victim");
    await server.stop("SIGKILL");
    await Bun.sleep(longerMs);
    await server.start(["up"], [...flags, `--node-monitor-grace-period=${longerMs}ms`]);
    expect(await troubles(server, "victim", longerMs + graceMs)).toEqual([]);
    expect(await isEvicted(server, "outlived")).toBe(false);
  }, 60_000);
});

describe("nodes stay ready", () => {
  let cluster: BenchCluster;

  beforeAll(async () => {
    cluster = await BenchCluster.start({ directory: join(root, "cluster"), members: 3, flags: serverFlags });
  }, 90_000);

  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
  });

  test("when the leader is killed, and when it stands still", async () => {
    const leader = await cluster.leader();
    const [first, second] = cluster.members.filter((member) => member !== leader) as [MemberProcess, MemberProcess];
    using _one = quietNode(first.kubeconfig, "one");
    using _two = quietNode(second.kubeconfig, "two");
    const servers: Server = { request: (...args) => first.request(...args) };
    for (const name of ["one", "two"])
      await until(
        () => readiness(servers, name),
        (status) => status === "True",
      );
    await bindPod(servers, "kept", "one");
    await leader.stop("SIGKILL");
    const seen = () => Promise.all(["one", "two"].map((name) => troubles(servers, name, 2 * graceMs)));
    expect(await seen()).toEqual([[], []]);
    await leader.start(["up"], [...leader.flags, ...serverFlags]);
    await cluster.settled();
    await cluster.transfer(leader);
    await until(async () => (await cluster.leader()) === leader);
    leader.signal("SIGSTOP");
    expect(await seen()).toEqual([[], []]);
    leader.signal("SIGCONT");
    expect(await seen()).toEqual([[], []]);
    expect(await isEvicted(servers, "kept")).toBe(false);
  }, 90_000);
});
