import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FakeCri } from "../../src/agent/runtime/cri/testing.ts";
import { until } from "../until.ts";
import { AgentProcess } from "./agent-process.ts";
import { Containerd, hasContainerd, testImage } from "./containerd.ts";
import { quorate } from "./member-process.ts";
import { ownAddress } from "./own-address.ts";
import { TestServer } from "./server.ts";

/** Tests `quorate agent --runtime cri` as a user runs it: with a runtime of the test everywhere, and with containerd. */

const pods = "/api/v1/namespaces/default/pods";
const proxy = "/api/v1/nodes/machine-1/proxy";

/** A server and an agent on a container runtime. */
class Machine implements AsyncDisposable {
  readonly server: TestServer;
  readonly agent: AgentProcess;
  readonly root: string;

  private constructor(server: TestServer, agent: AgentProcess, root: string) {
    this.server = server;
    this.agent = agent;
    this.root = root;
  }

  static async start(endpoint: string): Promise<Machine> {
    const root = mkdtempSync(join(tmpdir(), "quorate-machine-"));
    const server = await TestServer.start({
      enableBootstrapTokenAuth: true,
      controllers: "*",
      kubeletPreferredAddressTypes: ["InternalIP"],
    });
    await allowCheckpoints(server);
    const admin = join(root, "admin");
    writeFileSync(admin, server.running.kubeconfig, { mode: 0o600 });
    const { out } = await quorate(["agent", "token", "create", "--kubeconfig", admin]);
    const agent = new AgentProcess(
      ...out.trim().split(" ").slice(2),
      "--hostname-override=machine-1",
      `--root-dir=${join(root, "agent")}`,
      "--runtime=cri",
      `--container-runtime-endpoint=${endpoint}`,
      `--pod-logs-dir=${join(root, "logs")}`,
      `--node-ip=${ownAddress()}`,
      "--port=0",
    );
    return new Machine(server, await agent.start(), root);
  }

  async run(name: string, command: readonly string[], container: object = {}, spec: object = {}): Promise<void> {
    const main = { name: "main", image: testImage, imagePullPolicy: "IfNotPresent", command, ...container };
    await this.server.create(pods, {
      metadata: { name },
      spec: {
        nodeName: "machine-1",
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        containers: [main],
        ...spec,
      },
    });
  }

  async status(name: string): Promise<any> {
    return (await this.server.get(`${pods}/${name}`)).json.status;
  }

  /** Returns the status of a pod when it has the phase. */
  reached(name: string, phase: string): Promise<any> {
    return until(
      () => this.status(name),
      (status) => status?.phase === phase,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { metadata } of (await this.server.get(pods)).json.items) {
      await this.server.delete(`${pods}/${metadata.name}`);
    }
    await until(async () => (await this.server.get(pods)).json.items.length === 0);
    await this.agent[Symbol.asyncDispose]();
    await this.server.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Lets this server ask agents for checkpoints, which its default role does not include. */
async function allowCheckpoints(server: TestServer): Promise<void> {
  const group = "rbac.authorization.k8s.io";
  const metadata = { name: "checkpoints" };
  const rules = [{ apiGroups: [""], resources: ["nodes/checkpoint"], verbs: ["create"] }];
  await server.create(`/apis/${group}/v1/clusterroles`, { metadata, rules });
  await server.create(`/apis/${group}/v1/clusterrolebindings`, {
    metadata,
    roleRef: { apiGroup: group, kind: "ClusterRole", name: metadata.name },
    subjects: [{ apiGroup: group, kind: "User", name: "kube-apiserver-kubelet-client" }],
  });
}

describe("a runtime that speaks CRI", () => {
  const parts = new AsyncDisposableStack();
  let cri: FakeCri;
  let machine: Machine;

  beforeAll(async () => {
    cri = parts.use(new FakeCri());
    cri.hasEvents = true;
    await cri.start();
    machine = parts.use(await Machine.start(cri.endpoint));
  }, 60_000);

  afterAll(() => parts.disposeAsync(), 60_000);

  test("runs pods, whose images it pulls and whose logs the API server shows", async () => {
    await machine.run("web", ["serve"], {}, { securityContext: { supplementalGroupsPolicy: "Strict" } });
    const status = await machine.reached("web", "Running");
    expect(status.podIPs).toEqual([{ ip: "10.1.0.5" }, { ip: "fd00::5" }]);
    expect(status.containerStatuses[0].imageID).toBe(`${testImage}@sha256:1`);
    expect(status.containerStatuses[0].user).toEqual({ linux: { uid: 0, gid: 0 } });
    expect(cri.calls).toContain("PullImage");
    const [run] = cri.runs.values();
    await cri.print(run?.id ?? "", "hello");
    await until(async () => (await machine.server.get(`${pods}/web/log`)).text === "hello\n");
    const { status: node } = (await machine.server.get("/api/v1/nodes/machine-1")).json;
    expect(node.nodeInfo.containerRuntimeVersion).toBe("fake://1.0");
    expect(node.runtimeHandlers.map(({ name }: any) => name)).toEqual(["", "runc"]);
    expect(node.features).toEqual({ supplementalGroupsPolicy: true });
  }, 60_000);

  test("writes checkpoints that only root can read", async () => {
    const answer = await machine.server.post(`${proxy}/checkpoint/default/web/main`, undefined);
    expect(answer.code).toBe(200);
    const [location] = answer.json.items;
    expect(location).toStartWith(join(machine.root, "agent/checkpoints/checkpoint-web_default-main-"));
    expect(statSync(location).mode & 0o777).toBe(0o600);
    expect(readFileSync(location, "utf8")).toBe("archive");
    const absent = await machine.server.post(`${proxy}/checkpoint/default/web/other`, undefined);
    expect([absent.code, absent.text]).toEqual([404, "container other does not exist"]);
  }, 60_000);

  test("keeps its node from being ready while its network is not", async () => {
    const readiness = async () => {
      const { status } = (await machine.server.get("/api/v1/nodes/machine-1")).json;
      return status.conditions.find(({ type }: any) => type === "Ready");
    };
    await until(async () => (await readiness()).status === "True");
    cri.isNetworkReady = false;
    const condition = await until(readiness, ({ status }) => status === "False");
    expect(condition.message).toContain(
      "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:no network config",
    );
    cri.isNetworkReady = true;
  }, 60_000);
});

describe.if(hasContainerd)("containerd", () => {
  const parts = new AsyncDisposableStack();
  let machine: Machine;

  beforeAll(async () => {
    const containerd = parts.use(new Containerd());
    await containerd.start();
    machine = parts.use(await Machine.start(containerd.endpoint));
  }, 60_000);

  afterAll(() => parts.disposeAsync(), 60_000);

  const call = async (pod: string, command: string) =>
    (await machine.server.post(`${proxy}/run/default/${pod}/main?cmd=${encodeURIComponent(command)}`, undefined)).text;

  test("runs a pod on its own network, with its name, its limits and its log", async () => {
    const limits = { cpu: "500m", memory: "64Mi" };
    await machine.run("web", ["sh", "-c", "echo started; exec sleep 1000"], {
      resources: { limits },
      securityContext: { runAsUser: 1_000, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } },
    });
    const status = await machine.reached("web", "Running");
    expect(status.podIP).toStartWith("10.199.7.");
    expect(status.containerStatuses[0]).toMatchObject({ ready: true, restartCount: 0 });
    expect(status.containerStatuses[0].containerID).toStartWith("containerd://");
    expect((await machine.server.get(`${pods}/web/log`)).text).toBe("started\n");
    expect(await call("web", "cat /proc/sys/kernel/hostname")).toBe("web\n");
    expect(await call("web", "id -u")).toBe("1000\n");
    expect(await call("web", "cat /etc/hosts")).toContain(`${status.podIP}\tweb\n`);
    const { metadata } = (await machine.server.get(`${pods}/web`)).json;
    expect(await call("web", "cat /proc/self/cgroup")).toContain(`/kubepods/pod${metadata.uid}/`);
    expect(await call("web", "cat /proc/self/status")).toContain("CapEff:\t0000000000000000\n");
  }, 60_000);

  test("tells how commands and containers end", async () => {
    const failed = await call("web", "ls /absent");
    expect(failed).toContain("exited with 1: ls: /absent: No such file or directory");
    await machine.run(
      "task",
      ["sh", "-c", "echo -n out of luck > /dev/termination-log; exit 3"],
      {},
      {
        restartPolicy: "Never",
      },
    );
    const status = await machine.reached("task", "Failed");
    expect(status.containerStatuses[0].state.terminated).toMatchObject({
      exitCode: 3,
      reason: "Error",
      message: "out of luck",
    });
    await machine.run("absent", ["/absent"], {}, { restartPolicy: "Never" });
    const { state, lastState } = await until(
      async () => (await machine.status("absent"))?.containerStatuses?.[0] ?? {},
      (one) => JSON.stringify(one).includes("no such file or directory"),
    );
    expect(JSON.stringify([state, lastState])).toContain("failed to create containerd task");
  }, 60_000);

  test("kills the commands of probes that take too long", async () => {
    const probe = { exec: { command: ["sleep", "1000"] }, timeoutSeconds: 1, periodSeconds: 1 };
    await machine.run("slow", ["sleep", "2000"], { readinessProbe: probe });
    const { startTime } = await machine.reached("slow", "Running");
    expect(startTime).toBeDefined();
    const events = async () => (await machine.server.get("/api/v1/namespaces/default/events")).json.items;
    const timedOut = 'Readiness probe failed: command timed out: "sleep 1000" timed out after 1s';
    await until(async () => (await events()).some(({ message }: any) => message === timedOut));
    const processes = await call("slow", "ls /proc");
    // The container's own process, `ls`, and at most one probe under way.
    expect(processes.split("\n").filter((name) => /^\d+$/.test(name)).length).toBeLessThanOrEqual(3);
  }, 60_000);

  test("says that it writes no checkpoints, as this version does not", async () => {
    const answer = await machine.server.post(`${proxy}/checkpoint/default/web/main`, undefined);
    if (answer.code === 200) return;
    expect([answer.code, answer.text]).toEqual([
      500,
      "checkpointing of default/web/main failed (rpc error: code = Unimplemented desc = method CheckpointContainer not implemented)",
    ]);
  }, 60_000);

  test("keeps pods running while the agent restarts", async () => {
    const before = (await machine.status("web")).containerStatuses[0];
    expect(await machine.agent.stop()).toBe(0);
    await machine.agent.start();
    await machine.run("later", ["sh", "-c", "exit 0"], {}, { restartPolicy: "Never" });
    await machine.reached("later", "Succeeded");
    expect((await machine.status("web")).containerStatuses[0]).toMatchObject({
      containerID: before.containerID,
      restartCount: 0,
    });
  }, 60_000);

  test("leaves nothing of a pod that is deleted", async () => {
    const { uid } = (await machine.server.get(`${pods}/slow`)).json.metadata;
    const folders = () => readdirSync(join(machine.root, "agent/pods"));
    expect(folders()).toContain(uid);
    const groups = ["", "memory", "pids"].map((part) =>
      join("/sys/fs/cgroup", part, "kubepods/besteffort", `pod${uid}`),
    );
    expect(groups.some((group) => existsSync(group))).toBe(true);
    await machine.server.delete(`${pods}/slow`);
    await until(async () => (await machine.server.get(`${pods}/slow`)).code === 404);
    await until(() => !folders().includes(uid));
    await until(() => !groups.some((group) => existsSync(group)));
    await until(() => !readdirSync(join(machine.root, "logs")).some((name) => name.endsWith(uid)));
  }, 60_000);
});
