import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { freePort } from "../../raft/testing/free-ports.ts";
import type { ProcessStreams } from "../../src/agent/runtime/runtime.ts";
import { logLines, runningPod, ScriptedDirectory, scriptedRuntime } from "../../src/agent/serving/testing.ts";
import { mergePatch, pod, TestServer } from "../integration/server.ts";
import { until } from "../until.ts";
import {
  type AgentCertificates,
  type AgentEndpoint,
  agentCertificates,
  openAgentEndpoint,
  registerAgent,
} from "./agent-endpoint.ts";
import { Kubectl } from "./kubectl.ts";

let certificates: AgentCertificates;
let server: TestServer;
let agent: AgentEndpoint;
let kubectl: Kubectl;
const files = new Map<string, Buffer>();
const sizes: { width: number; height: number }[] = [];

/** A shell that knows the commands of these tests. */
async function shell(command: readonly string[], streams: ProcessStreams): Promise<number> {
  const [name = "", ...rest] = command;
  switch (name) {
    case "echo":
      await streams.stdout?.(Buffer.from(`${rest.join(" ")}\n`));
      return 0;
    case "fail":
      await streams.stderr?.(Buffer.from("a warning\n"));
      return Number(rest[0]);
    case "cat":
      for await (const chunk of streams.stdin ?? []) await streams.stdout?.(chunk);
      return 0;
    case "flood":
      for (let left = Number(rest[0]); left > 0; left -= 65_536) await streams.stdout?.(Buffer.alloc(65_536, "x"));
      return 0;
    case "tar":
      return archive(rest, streams);
    case "broken":
      throw new Error("the runtime has lost the container");
    default:
      return 127;
  }
}

/** `tar` as `kubectl cp` calls it, with the archive as it is. */
async function archive(args: readonly string[], streams: ProcessStreams): Promise<number> {
  const flags = args[0] ?? "";
  if (flags.includes("x")) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of streams.stdin ?? []) chunks.push(chunk);
    files.set("archive", Buffer.concat(chunks));
    return 0;
  }
  await streams.stdout?.(files.get("archive") ?? Buffer.alloc(0));
  return 0;
}

const runtime = scriptedRuntime({
  logs: (container, { follow, signal }) =>
    follow ? endless(signal) : logLines("one\n", "two\n", `three of ${container.name}\n`),
  exec: async (_id, command, _options, streams) => shell(command, streams),
  async attach(_id, _options, streams) {
    for await (const size of streams.resize ?? []) sizes.push(size);
    await streams.stdout?.(Buffer.from("attached\n"));
    for await (const chunk of streams.stdin ?? []) await streams.stdout?.(chunk);
  },
  async portForward(_sandbox, port, { input, output }) {
    if (port === 81) throw new Error("connection refused");
    for await (const chunk of input) await output(Buffer.from(chunk.toString().toUpperCase()));
  },
  checkpoint: (id, location) => writeFile(location, `archive of ${id}`),
  stats: async () => [
    { containerId: "web-main", timeMs: 4_000, cpuNanoseconds: 5e9, memoryBytes: 2_000, workingSetBytes: 1_000 },
  ],
});

async function* endless(signal: AbortSignal) {
  for (let count = 0; !signal.aborted; count++) {
    yield* logLines(`line ${count}\n`);
    await Bun.sleep(20);
  }
}

beforeAll(async () => {
  certificates = await agentCertificates();
  server = await TestServer.start({ kubeletCertificateAuthority: certificates.authorityFile });
  const directory = new ScriptedDirectory();
  directory.add(runningPod(runtime, "web"));
  agent = await openAgentEndpoint(directory, certificates, server.running);
  kubectl = await Kubectl.open(server.running.kubeconfig);
  await registerAgent((path, object) => server.create(path, object), agent.port);
  await kubectl.ok(["wait", "serviceaccount/default", "--for=create", "--timeout=5s"]);
  const containers = ["main", "side"].map((name) => ({ name, image: "image:1" }));
  await server.create("/api/v1/namespaces/default/pods", pod("web", { nodeName: "n1", containers }));
  await server.patch("/api/v1/namespaces/default/pods/web/status", mergePatch, { status: { phase: "Running" } });
});
afterAll(async () => {
  await kubectl[Symbol.asyncDispose]();
  await agent[Symbol.asyncDispose]();
  await server.close();
  await certificates[Symbol.asyncDispose]();
});

describe("logs", () => {
  test("are those of the container, from the options on", async () => {
    expect(await kubectl.ok(["logs", "web", "-c", "main"])).toBe("one\ntwo\nthree of main\n");
    expect(await kubectl.ok(["logs", "web", "-c", "side", "--tail=1"])).toBe("three of side\n");
    expect(await kubectl.ok(["logs", "web", "-c", "main", "--timestamps", "--limit-bytes=40"])).toBe(
      "1970-01-01T00:00:00.123456789Z one\n1970-",
    );
  });

  test("are followed while they are written", async () => {
    await using following = kubectl.start(["logs", "-f", "web", "-c", "main"]);
    expect(await following.until((printed) => printed.includes("line 3"))).toStartWith("line 0\nline 1\n");
  });

  test("of a container that has not run before say so", async () => {
    expect(await kubectl.refused(["logs", "-p", "web", "-c", "main"])).toContain(
      'previous terminated container "main" in pod "web" not found',
    );
  });
});

const transports = [
  ["a WebSocket", {}],
  ["SPDY", { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: "false", KUBECTL_PORT_FORWARD_WEBSOCKETS: "false" }],
] as const;

describe.each(transports)("over %s", (_, env) => {
  const web = ["web", "-c", "main"];

  test("exec prints output and errors, and ends with the exit code of the command", async () => {
    expect(await kubectl.ok(["exec", ...web, "--", "echo", "a b", "c"], { env })).toBe("a b c\n");
    const failed = await kubectl.run(["exec", ...web, "--", "fail", "7"], { env });
    expect(failed.code).toBe(7);
    expect(failed.stderr).toContain("a warning");
    expect(failed.stderr).toContain("command terminated with exit code 7");
  });

  test("exec passes input until it ends", async () => {
    const input = "line\n".repeat(100_000);
    expect(await kubectl.ok(["exec", "-i", ...web, "--", "cat"], { env, input })).toBe(input);
  });

  test("exec carries much output", async () => {
    const bytes = 8 * 1024 * 1024;
    expect((await kubectl.ok(["exec", ...web, "--", "flood", String(bytes)], { env })).length).toBe(bytes);
  });

  test("exec says what the runtime says", async () => {
    expect(await kubectl.refused(["exec", ...web, "--", "broken"], { env })).toContain(
      "error executing command in container: the runtime has lost the container",
    );
  });

  test("attach joins the container's process", async () => {
    const printed = await kubectl.ok(["attach", "-i", ...web], { env, input: "hello\n" });
    expect(printed).toContain("attached\nhello\n");
  });

  test("cp copies files in and out", async () => {
    const text = "copied\n".repeat(20_000);
    const file = await kubectl.file("source.txt", text);
    await kubectl.ok(["cp", file, "web:/source.txt", "-c", "main"], { env });
    await kubectl.ok(["cp", "web:source.txt", "back.txt", "-c", "main"], { env });
    expect(await kubectl.readBack("back.txt")).toBe(text);
  });

  test("port-forward connects to a port of the pod, several times", async () => {
    const port = await freePort();
    await using forwarding = kubectl.start(["port-forward", "web", `${port}:80`], { env });
    await forwarding.until((printed) => printed.includes(`:${port} -> 80`));
    const answers = await Promise.all([1, 2, 3].map((number) => exchange(port, `hello ${number}`)));
    expect(answers).toEqual(["HELLO 1", "HELLO 2", "HELLO 3"]);
  });

  test("port-forward reports a port that does not answer", async () => {
    const port = await freePort();
    await using forwarding = kubectl.start(["port-forward", "web", `${port}:81`], { env });
    await forwarding.until((printed) => printed.includes(`:${port} -> 81`));
    expect(await exchange(port, "hello")).toBe("");
    const expected = "error forwarding port 81 to pod web, uid uid-of-web: connection refused";
    expect(await forwarding.complaint((printed) => printed.includes("error forwarding"))).toContain(expected);
  });
});

describe("the node proxy", () => {
  const raw = (path: string) => kubectl.ok(["get", "--raw", `/api/v1/nodes/n1/proxy/${path}`]);

  test("shows health, pods, statistics and configuration", async () => {
    expect(await raw("healthz")).toBe("ok");
    expect(JSON.parse(await raw("pods")).items[0].metadata.name).toBe("web");
    expect(JSON.parse(await raw("runningpods/")).items[0].spec.containers).toHaveLength(2);
    expect(JSON.parse(await raw("configz"))).toEqual({ kubeletconfig: { maxPods: 110 } });
    const { node, pods } = JSON.parse(await raw("stats/summary"));
    expect(node.nodeName).toBe("n1");
    expect(pods[0].containers[0]).toMatchObject({ name: "main", memory: { workingSetBytes: 1_000 } });
    expect(await raw("metrics/resource")).toContain(
      'container_cpu_usage_seconds_total{container="main",namespace="default",pod="web"} 5 4000\n',
    );
  });

  test("makes a checkpoint of a container, with permission", async () => {
    const path = "/api/v1/nodes/n1/proxy/checkpoint/default/web";
    // The default role has no checkpoints.
    await kubectl.ok(["create", "clusterrole", "checkpoints", "--verb=create", "--resource=nodes/checkpoint"]);
    const user = "--user=kube-apiserver-kubelet-client";
    await kubectl.ok(["create", "clusterrolebinding", "checkpoints", "--clusterrole=checkpoints", user]);
    const made = JSON.parse(await kubectl.ok(["create", "--raw", `${path}/main?timeout=3`, "-f", "-"], { input: "" }));
    expect(await readFile(made.items[0], "utf8")).toBe("archive of web-main");
    expect((await server.post(`${path}/other`, {})).text).toBe("container other does not exist");
  });

  test("says what the agent says", async () => {
    const { code, text } = await server.get("/api/v1/nodes/n1/proxy/nothing");
    expect({ code, text }).toEqual({ code: 404, text: "404: Page Not Found" });
  });
});

test("without permission the agent refuses the API server", async () => {
  const binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/api-servers-use-agents";
  const kept = await server.get(binding);
  await server.delete(binding);
  // A node of its own, so that no earlier decision is remembered.
  const other = new ScriptedDirectory();
  other.add(runningPod(runtime, "web"));
  await using stranger = await openAgentEndpoint(other, certificates, server.running);
  const status = { daemonEndpoints: { kubeletEndpoint: { Port: stranger.port } } };
  await server.patch("/api/v1/nodes/n1/status", mergePatch, { status });
  const refusal = await until(
    () => kubectl.run(["logs", "web", "-c", "main"]),
    ({ code }) => code !== 0,
  );
  expect(refusal.stderr).toContain(
    "Forbidden (user=kube-apiserver-kubelet-client, verb=get, resource=nodes, subresource(s)=[proxy])",
  );
  expect(kept.code).toBe(200);
});

/** Sends a text and returns the answer. */
async function exchange(port: number, text: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const socket = connect(port, "127.0.0.1", () => socket.write(text));
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk.toString();
    socket.end();
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(answer));
  return promise;
}
