import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { logLines, runningPod, ScriptedDirectory, scriptedRuntime } from "../../src/agent/serving/testing.ts";
import { BenchCluster } from "../bench/cluster.ts";
import type { MemberProcess } from "../integration/member-process.ts";
import { pod } from "../integration/server.ts";
import { until } from "../until.ts";
import {
  type AgentCertificates,
  type AgentEndpoint,
  agentCertificates,
  openAgentEndpoint,
  registerAgent,
} from "./agent-endpoint.ts";
import { Kubectl } from "./kubectl.ts";

/** Tests that an agent is reached through each of three replicas, with its certificate verified. */

const root = mkdtempSync(join(tmpdir(), "quorate-agent-cluster-"));
let certificates: AgentCertificates;
let cluster: BenchCluster;
let agent: AgentEndpoint;

const runtime = scriptedRuntime({
  logs: () => logLines("one\n", "two\n"),
  async exec(_id, command, _options, streams) {
    for await (const chunk of streams.stdin ?? []) await streams.stdout?.(chunk);
    return Number(command[1] ?? 0);
  },
});

beforeAll(async () => {
  certificates = await agentCertificates();
  const flags = [`--kubelet-certificate-authority=${certificates.authorityFile}`];
  cluster = await BenchCluster.start({ directory: root, members: 3, flags });
  const [first] = cluster.members as [MemberProcess];
  const create = async (path: string, object: object) => {
    const { code, json } = await first.request("POST", path, object);
    expect({ code, message: json.message }).toEqual({ code: 201, message: undefined });
  };
  const directory = new ScriptedDirectory();
  directory.add(runningPod(runtime, "web"));
  agent = await openAgentEndpoint(directory, certificates, first);
  await registerAgent(create, agent.port);
  await until(
    async () => (await first.request("GET", "/api/v1/namespaces/default/serviceaccounts/default")).code === 200,
  );
  await create("/api/v1/namespaces/default/pods", pod("web", { nodeName: "n1" }));
}, 90_000);
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await cluster[Symbol.asyncDispose]();
  await certificates[Symbol.asyncDispose]();
  rmSync(root, { recursive: true, force: true });
});

test.each([0, 1, 2])(
  "replica %d reaches the agent for logs, commands and the node proxy",
  async (at) => {
    const member = cluster.members[at] as MemberProcess;
    await using kubectl = await Kubectl.open(readFileSync(member.kubeconfig, "utf8"));
    const server = ["--server", member.url];
    expect(await kubectl.ok(["logs", "web", ...server])).toBe("one\ntwo\n");
    for (const env of [{}, { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false" }]) {
      const input = `through ${member.name}\n`;
      expect(await kubectl.ok(["exec", "-i", "web", ...server, "--", "cat"], { env, input })).toBe(input);
      expect((await kubectl.run(["exec", "web", ...server, "--", "exit", "5"], { env })).code).toBe(5);
    }
    expect(await kubectl.ok(["get", "--raw", "/api/v1/nodes/n1/proxy/healthz", ...server])).toBe("ok");
  },
  60_000,
);
