import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { until } from "../until.ts";
import { AgentProcess } from "./agent-process.ts";
import { quorate } from "./member-process.ts";
import { ownAddress } from "./own-address.ts";
import { TestServer } from "./server.ts";

/** Tests `quorate agent` as a user runs it: a token, the printed command, and pods whose containers are processes. */

const root = mkdtempSync(join(tmpdir(), "quorate-agent-"));
const machine = join(root, "machine");
const adminKubeconfig = join(root, "admin");
const pods = "/api/v1/namespaces/default/pods";
const manifests = join(root, "manifests");
const flags = [
  `--pod-manifest-path=${manifests}`,
  "--hostname-override=machine-1",
  `--root-dir=${machine}`,
  "--runtime=process",
  `--node-ip=${ownAddress()}`,
  "--port=0",
  "--node-labels=team=x",
];
let server: TestServer;
let agent: AgentProcess;
let token: string;

beforeAll(async () => {
  mkdirSync(manifests);
  server = await TestServer.start({
    enableBootstrapTokenAuth: true,
    controllers: "*",
    // The name of the node cannot be resolved.
    kubeletPreferredAddressTypes: ["InternalIP"],
  });
  writeFileSync(adminKubeconfig, server.running.kubeconfig, { mode: 0o600 });
  const { out, err, code } = await quorate(["agent", "token", "create", "--kubeconfig", adminKubeconfig]);
  expect({ code, err: err.replace(/before .*\n/, "") }).toEqual({ code: 0, err: "run this on each new machine " });
  const words = out.trim().split(" ");
  token = words[words.indexOf("--token") + 1] ?? "";
  expect(words.slice(0, 4)).toEqual(["quorate", "agent", "join", server.running.url]);
  agent = await new AgentProcess(...words.slice(2), ...flags).start();
}, 60_000);

afterAll(async () => {
  for (const name of ["loop", "done"]) await server.delete(`${pods}/${name}`);
  await until(async () => (await server.get(pods)).json.items.length === 0);
  await agent[Symbol.asyncDispose]();
  await server.close();
  rmSync(root, { recursive: true, force: true });
}, 60_000);

const podOf = async (name: string) => (await server.get(`${pods}/${name}`)).json;
const phase = async (name: string) => (await podOf(name)).status?.phase;
const run = (name: string, command: string, spec: object = {}) =>
  server.create(pods, {
    metadata: { name },
    spec: {
      nodeName: "machine-1",
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: "main", image: "host", command: ["sh", "-c", command] }],
      ...spec,
    },
  });

describe("an agent of a machine", () => {
  test("registers a ready node with what the machine has", async () => {
    const node = async () => (await server.get("/api/v1/nodes/machine-1")).json;
    const { metadata, status } = await until(node, ({ status: found }) =>
      found?.conditions?.some(({ type, status: is }: any) => type === "Ready" && is === "True"),
    );
    expect(metadata.labels).toMatchObject({ "kubernetes.io/hostname": "machine-1", team: "x" });
    expect(Object.keys(status.capacity)).toEqual(
      expect.arrayContaining(["cpu", "memory", "pods", "ephemeral-storage"]),
    );
    expect(status.daemonEndpoints.kubeletEndpoint.Port).toBe(agent.port);
    expect(status.nodeInfo.containerRuntimeVersion).toMatch(/^process:\/\//);
  }, 60_000);

  test("runs a container, whose log the API server shows", async () => {
    await run("loop", "echo started; exec sleep 1000");
    await until(
      () => phase("loop"),
      (is) => is === "Running",
    );
    await until(async () => (await server.get(`${pods}/loop/log`)).text === "started\n");
  }, 60_000);

  test("reports the end of a container", async () => {
    await run("done", "exit 0", { restartPolicy: "Never" });
    await until(
      () => phase("done"),
      (is) => is === "Succeeded",
    );
  }, 60_000);

  test("is restarted without its containers, and finds them again", async () => {
    const before = (await podOf("loop")).status.containerStatuses[0].containerID;
    expect(await agent.stop()).toBe(0);
    agent = await new AgentProcess(...flags).start();
    await run("later", "exit 0", { restartPolicy: "Never" });
    await until(
      () => phase("later"),
      (is) => is === "Succeeded",
    );
    const { status } = await podOf("loop");
    expect(status.containerStatuses[0]).toMatchObject({ containerID: before, restartCount: 0 });
    await server.delete(`${pods}/later`);
    await until(async () => (await server.get(`${pods}/later`)).code === 404);
  }, 60_000);

  test("runs a pod from a file, and shows its mirror", async () => {
    const file = join(manifests, "static.json");
    const container = { name: "main", image: "host", command: ["sleep", "1000"] };
    const spec = { terminationGracePeriodSeconds: 1, containers: [container] };
    writeFileSync(file, JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name: "static" }, spec }));
    await until(
      () => phase("static-machine-1"),
      (is) => is === "Running",
    );
    const { metadata } = await podOf("static-machine-1");
    expect(metadata.ownerReferences).toMatchObject([{ kind: "Node", name: "machine-1", controller: true }]);
    rmSync(file);
    await until(async () => (await server.get(`${pods}/static-machine-1`)).code === 404);
  }, 60_000);

  test("keeps its secrets to itself", async () => {
    // Containers of other users pass through to their working directories, and may list nothing on the way.
    const open = ["", "containers", "containers/work"];
    for (const path of open) expect([path, statSync(join(machine, path)).mode & 0o777]).toEqual([path, 0o711]);
    const entries = ["", "containers"].flatMap((path) =>
      readdirSync(join(machine, path)).map((one) => join(path, one)),
    );
    for (const path of entries.filter((one) => !open.includes(one))) {
      expect([path, statSync(join(machine, path)).mode & 0o077]).toEqual([path, 0]);
    }
    for (const file of ["kubeconfig", "pki/kubelet-client-current.pem", "pki/kubelet.key"]) {
      expect([file, statSync(join(machine, file)).mode & 0o777]).toEqual([file, 0o600]);
    }
    const texts = [...readdirSync(join(machine, "pki")), "../kubeconfig"].map((file) =>
      readFileSync(join(machine, "pki", file), "utf8"),
    );
    const secret = token.split(".")[1] ?? "";
    expect(secret).toHaveLength(16);
    expect([...texts, agent.complaints].join()).not.toContain(secret);
  }, 60_000);

  test("answers through the node's proxy, and refuses those who come without permission", async () => {
    expect((await server.get("/api/v1/nodes/machine-1/proxy/healthz")).text).toBe("ok");
    const names = async () => {
      const { json } = await server.get("/api/v1/nodes/machine-1/proxy/pods");
      return json.items.map(({ metadata }: any) => metadata.name).toSorted();
    };
    // The static pod of an earlier test may still be ending.
    expect(await until(names, ({ length }) => length === 2)).toEqual(["done", "loop"]);
    const direct = await fetch(`https://${ownAddress()}:${agent.port}/pods`, { tls: { rejectUnauthorized: false } });
    expect([direct.status, await direct.text()]).toEqual([401, "Unauthorized"]);
  });
});
