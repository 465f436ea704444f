import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../../test/until.ts";
import type { Container, Pod } from "../../../api/types/core-v1.ts";
import { systemClock } from "../../../process/clock.ts";
import type { Mount, ProcessStreams, RuntimeContainer, RuntimeId, Sandbox } from "../runtime.ts";
import { CriRuntime, type CriRuntimeOptions } from "./cri-runtime.ts";
import { containerStates } from "./enums.ts";
import { CriFailure, FakeCri } from "./testing.ts";

let cri: FakeCri;
let runtime: CriRuntime;
const signal = new AbortController().signal;

function optionsOf(): CriRuntimeOptions {
  return {
    endpoint: cri.endpoint,
    timeoutMs: 5_000,
    rootDirectory: join(cri.directory, "root"),
    logDirectory: join(cri.directory, "logs"),
    logLimits: { bytesMax: 100, filesMax: 3 },
    dns: { servers: ["10.0.0.10"], domain: "cluster.local" },
    resolvConf: "",
    security: { seccompRoot: "/seccomp", seccompDefault: false },
    cgroupDriver: undefined,
    handlerOf: async (name) => {
      if (name === "sandboxed") return "kata";
      throw new Error(`runtimeclass.node.k8s.io "${name}" not found`);
    },
    clock: systemClock,
    onError: () => {},
  };
}

beforeEach(async () => {
  cri = new FakeCri();
  cri.hasEvents = true;
  await cri.start();
  runtime = await CriRuntime.open(optionsOf());
});

afterEach(async () => {
  await runtime[Symbol.asyncDispose]();
  await cri[Symbol.asyncDispose]();
});

const spec: Container = {
  name: "main",
  image: "app:1",
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "FallbackToLogsOnError",
};
const pod: Pod = {
  kind: "Pod",
  apiVersion: "v1",
  metadata: { name: "web", namespace: "shop", uid: "u1", labels: { app: "web" } },
  spec: { containers: [spec] },
};

const dataMount: Mount = {
  hostPath: "/srv/data",
  containerPath: "/data",
  isReadOnly: true,
  propagation: "HostToContainer",
};

async function startMain(
  attempt = 0,
  own: Container = spec,
  mounts: readonly Mount[] = [dataMount],
): Promise<{ sandbox: Sandbox; id: RuntimeId }> {
  const sandbox = (await runtime.sandboxes())[0] ?? (await runtime.runSandbox(pod, 0));
  const id = await runtime.createContainer(sandbox, pod, {
    spec: own,
    attempt,
    imageRef: "sha256:app",
    command: ["/app"],
    args: undefined,
    environment: [["COLOUR", "blue"]],
    mounts,
    logPath: join(cri.directory, "logs", "shop_web_u1", own.name, `${attempt}.log`),
  });
  await runtime.startContainer(id);
  return { sandbox, id };
}

async function failureOf(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => new Error("it succeeded"),
    (error: Error) => error,
  );
}

async function find(id: RuntimeId): Promise<RuntimeContainer> {
  const found = (await runtime.containers()).find((one) => one.id === id);
  if (found === undefined) throw new Error(`container ${id} is gone`);
  return found;
}

describe("the runtime", () => {
  test("tells its name and version", () => {
    expect(runtime.version).toBe("fake://1.0");
  });

  test("tells why the node is not ready", async () => {
    expect(await runtime.problems()).toEqual([]);
    expect(runtime.networkProblem).toBeUndefined();
    cri.isNetworkReady = false;
    const problem =
      "container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:no network config";
    expect(await runtime.problems()).toEqual([problem]);
    expect(runtime.networkProblem).toBe(problem);
    cri.answers.Status = () => {
      throw new CriFailure("INTERNAL", "broken");
    };
    expect(await runtime.problems()).toEqual(["container runtime is down: rpc error: code = Internal desc = broken"]);
  });

  test("tells its handlers and features, and keeps them while it is down", async () => {
    expect(runtime.features).toBeUndefined();
    cri.answers.Status = () => ({
      runtimeHandlers: [{ name: "runc" }, { name: "" }],
      features: { supplementalGroupsPolicy: true },
    });
    await runtime.problems();
    cri.answers.Status = () => {
      throw new CriFailure("INTERNAL", "broken");
    };
    await runtime.problems();
    expect(runtime.features).toEqual({ handlers: ["", "runc"], supplementalGroupsPolicy: true });
  });

  test("has a deadline for every call", async () => {
    await using slow = await CriRuntime.open({ ...optionsOf(), timeoutMs: 200 });
    const gate = Promise.withResolvers<void>();
    cri.answers.ListImages = async () => {
      await gate.promise;
      return {};
    };
    const message = "rpc error: code = DeadlineExceeded desc = context deadline exceeded";
    expect(await failureOf(slow.images())).toMatchObject({ message, code: "DeadlineExceeded" });
    gate.resolve();
  });
});

describe("sandboxes", () => {
  test("have the names, labels and resolver of their pods", async () => {
    const sandbox = await runtime.runSandbox(pod, 2);
    expect(sandbox).toEqual({
      id: "pod-1",
      podUid: "u1",
      namespace: "shop",
      podName: "web",
      isReady: true,
      ips: ["10.1.0.5", "fd00::5"],
      attempt: 2,
    });
    const config = cri.pods.get("pod-1")?.config;
    expect(config?.metadata).toEqual({ name: "web", namespace: "shop", uid: "u1", attempt: 2 });
    expect(config?.labels).toEqual({
      app: "web",
      "io.kubernetes.pod.name": "web",
      "io.kubernetes.pod.namespace": "shop",
      "io.kubernetes.pod.uid": "u1",
    });
    expect(config?.hostname).toBe("web");
    expect(config?.dnsConfig).toEqual({
      servers: ["10.0.0.10"],
      searches: ["shop.svc.cluster.local", "svc.cluster.local", "cluster.local"],
      options: ["ndots:5"],
    });
    expect(readdirSync(join(cri.directory, "logs"))).toEqual(["shop_web_u1"]);
  });

  test("say why they cannot be made", async () => {
    cri.answers.RunPodSandbox = () => {
      throw new CriFailure("UNKNOWN", "no network");
    };
    expect(await failureOf(runtime.runSandbox(pod, 0))).toMatchObject({
      reason: "CreatePodSandboxError",
      message: "rpc error: code = Unknown desc = no network",
    });
    const users = { ...pod, spec: { containers: [spec], hostUsers: false } };
    expect((await failureOf(runtime.runSandbox(users, 0))).message).toMatch(
      "user namespaces (hostUsers: false) are not supported",
    );
  });

  test("have the handler of their RuntimeClass", async () => {
    const handlers: string[] = [];
    cri.answers.RunPodSandbox = ({ runtimeHandler }) => {
      handlers.push(runtimeHandler);
      throw new CriFailure("UNKNOWN", "enough");
    };
    const ofClass = (runtimeClassName: string) => ({ ...pod, spec: { containers: [spec], runtimeClassName } });
    await failureOf(runtime.runSandbox(pod, 0));
    await failureOf(runtime.runSandbox(ofClass("sandboxed"), 0));
    expect(handlers).toEqual(["", "kata"]);
    expect(await failureOf(runtime.runSandbox(ofClass("none"), 0))).toMatchObject({
      reason: "CreatePodSandboxError",
      message: 'runtimeclass.node.k8s.io "none" not found',
    });
  });

  test("stop and go, also when they are gone", async () => {
    const { id } = await runtime.runSandbox(pod, 0);
    await runtime.stopSandbox(id);
    expect((await runtime.sandboxes()).map(({ isReady }) => isReady)).toEqual([false]);
    await runtime.removeSandbox(id);
    expect(await runtime.sandboxes()).toEqual([]);
    await runtime.stopSandbox(id);
    await runtime.removeSandbox(id);
  });
});

describe("containers", () => {
  test("tell their users", async () => {
    const securityContext = { runAsUser: 1_000, runAsGroup: 2_000 };
    const own = await startMain(0, { ...spec, securityContext });
    expect((await find(own.id)).user).toEqual({ uid: 1_000, gid: 2_000 });
    const { id } = await startMain(1);
    expect((await find(id)).user).toEqual({ uid: 0, gid: 0 });
  });

  test("get what their specs say", async () => {
    const { id } = await startMain();
    const { config } = cri.runs.get(id) ?? {};
    expect(config?.metadata).toEqual({ name: "main", attempt: 0 });
    expect(config?.image).toEqual({ image: "sha256:app", userSpecifiedImage: "app:1" });
    expect(config?.envs.map(({ key, value }) => [key, Buffer.from(value).toString()])).toEqual([["COLOUR", "blue"]]);
    expect(config?.mounts[0]).toEqual({
      hostPath: "/srv/data",
      containerPath: "/data",
      readonly: true,
      propagation: 1,
    });
    expect(config?.logPath).toBe("main/0.log");
    expect(config?.annotations).toMatchObject({
      "io.kubernetes.container.restartCount": "0",
      "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
    });
    expect((await find(id)).state).toEqual({ kind: "running", startedAtMs: 1_700_000_001_000 });
  });

  test("name the step that failed, without the code", async () => {
    cri.answers.StartContainer = () => {
      throw new CriFailure("UNKNOWN", 'exec: "/app": not found');
    };
    expect(await failureOf(startMain())).toMatchObject({
      reason: "RunContainerError",
      message: 'exec: "/app": not found',
    });
  });

  test("leave a message when they end", async () => {
    const { id } = await startMain();
    const file = cri.runs.get(id)?.config.mounts.find(({ containerPath }) => containerPath === "/dev/termination-log");
    const cut = "c".repeat(4096 - "no more work".length);
    writeFileSync(file?.hostPath ?? "", `cut off${cut}no more work`);
    cri.exit(id, 0);
    expect((await find(id)).state).toEqual({
      kind: "exited",
      startedAtMs: 1_700_000_001_000,
      finishedAtMs: 1_700_000_002_000,
      exitCode: 0,
      reason: "Completed",
      message: `${cut}no more work`,
    });
    await runtime.removeContainer(id);
    expect(readdirSync(join(cri.directory, "root/pods/u1/containers/main"))).toEqual([]);
    expect(readdirSync(join(cri.directory, "logs/shop_web_u1/main"))).toEqual([]);
  });

  test("do not remove a file of the machine that the pod mounts in place of their message", async () => {
    const hostPath = join(cri.directory, "important");
    writeFileSync(hostPath, "a message");
    const { id } = await startMain(0, spec, [{ ...dataMount, hostPath, containerPath: "/dev//termination-log" }]);
    expect(cri.runs.get(id)?.config.mounts.map((mount) => mount.hostPath)).toEqual([hostPath]);
    await runtime.removeContainer(id);
    const second = await startMain(1, spec, [{ ...dataMount, hostPath, containerPath: "/dev/termination-log" }]);
    cri.exit(second.id, 0);
    expect((await find(second.id)).state).toMatchObject({ message: "a message" });
    await runtime.removeContainer(second.id);
    expect(existsSync(hostPath)).toBe(true);
  });

  test("leave the end of their log if they fail without a message", async () => {
    const { id } = await startMain();
    await cri.print(id, "starting\nout of luck\n");
    cri.exit(id, 1);
    expect((await find(id)).state).toMatchObject({ reason: "Error", message: "starting\nout of luck\n" });
  });

  test("stop, also when they are gone", async () => {
    const { id } = await startMain();
    await runtime.stopContainer(id, 3);
    expect((await find(id)).state).toMatchObject({ kind: "exited", exitCode: 143 });
    await runtime.removeContainer(id);
    await runtime.stopContainer(id, 3);
    await runtime.removeContainer(id);
    expect(await runtime.containers()).toEqual([]);
  });

  test("are found again by an agent that starts later", async () => {
    const { sandbox, id } = await startMain();
    cri.exit(id, 2);
    const before = [await runtime.sandboxes(), await runtime.containers()];
    await using later = await CriRuntime.open(optionsOf());
    expect([await later.sandboxes(), await later.containers()]).toEqual(before);
    expect(before).toEqual([[sandbox], [await find(id)]]);
  });

  test("of an ephemeral kind see the processes of their target", async () => {
    const { id } = await startMain();
    const debugged: Container & { targetContainerName: string } = { name: "debug", targetContainerName: "main" };
    const { id: debug } = await startMain(0, debugged);
    expect(cri.runs.get(debug)?.config.linux?.securityContext?.namespaceOptions).toMatchObject({
      pid: 3,
      targetId: id,
    });
    expect(await failureOf(startMain(0, { ...debugged, targetContainerName: "other" } as Container))).toMatchObject({
      reason: "CreateContainerConfigError",
      message: "unable to find target container other",
    });
  });

  test("take other limits while they run", async () => {
    const { id } = await startMain();
    const seen: unknown[] = [];
    cri.answers.UpdateContainerResources = ({ linux }) => {
      seen.push([linux?.cpuShares, linux?.cpuQuota, linux?.memoryLimitInBytes]);
      return {};
    };
    await runtime.updateResources(id, { requests: { cpu: "500m" }, limits: { cpu: "1", memory: "64Mi" } });
    expect(seen).toEqual([[512, 100_000, 67_108_864]]);
    expect((await runtime.stats())[0]).toMatchObject({
      containerId: id,
      cpuNanoseconds: 5_000,
      workingSetBytes: 4_096,
    });
  });

  test("are checkpointed where the agent says", async () => {
    const { id } = await startMain();
    const location = join(cri.directory, "archive.tar");
    await runtime.checkpoint(id, location, 0);
    expect(readFileSync(location, "utf8")).toBe("archive");
    cri.answers.CheckpointContainer = () => {
      throw new CriFailure("UNIMPLEMENTED", "method CheckpointContainer not implemented");
    };
    expect(await failureOf(runtime.checkpoint(id, location, 0))).toMatchObject({ code: "Unimplemented" });
  });
});

describe("changes", () => {
  test("are told by events", async () => {
    const { id } = await startMain();
    const changed: string[] = [];
    using _subscription = runtime.subscribe((podUid) => changed.push(podUid));
    await until(() => cri.calls.includes("GetContainerEvents"));
    cri.exit(id, 0);
    await until(() => changed.includes("u1"));
  });

  test("are found in lists when the runtime has no events", async () => {
    await using quiet = new FakeCri();
    await quiet.start();
    await using other = await CriRuntime.open({ ...optionsOf(), endpoint: quiet.endpoint });
    const changed: string[] = [];
    using _subscription = other.subscribe((podUid) => changed.push(podUid));
    await until(() => quiet.calls.includes("ListContainers"));
    await other.runSandbox(pod, 0);
    await until(() => changed.includes("u1"));
  });
});

describe("images", () => {
  test("are pulled with the credential", async () => {
    expect(await runtime.imageRef("docker.io/library/app:1")).toBe("sha256:app");
    expect(await runtime.imageRef("docker.io/library/new:1")).toBeUndefined();
    const auth = Buffer.from("ada:secret:word").toString("base64");
    expect(await runtime.pullImage("docker.io/library/new:1", auth, signal)).toBe("sha256:docker.io/library/new:1");
    expect(cri.logins).toEqual(["ada:secret:word"]);
    expect(await failureOf(runtime.pullImage("absent:1", undefined, signal))).toMatchObject({
      reason: "ErrImagePull",
      message: 'rpc error: code = NotFound desc = failed to resolve reference "absent:1"',
    });
    cri.answers.PullImage = () => {
      throw new CriFailure("UNKNOWN", "RegistryUnavailable: connection refused");
    };
    expect(await failureOf(runtime.pullImage("app:2", undefined, signal))).toMatchObject({
      reason: "RegistryUnavailable",
      message: "image pull failed for app:2 because the registry is unavailable: connection refused",
    });
  });

  test("are not pulled any further when nobody waits for them", async () => {
    const canceled = new AbortController();
    cri.answers.PullImage = () => new Promise(() => undefined);
    const pulling = failureOf(runtime.pullImage("app:3", undefined, canceled.signal));
    await until(() => cri.calls.includes("PullImage"));
    canceled.abort();
    expect(await pulling).toMatchObject({ reason: "ErrImagePull", message: expect.stringContaining("Canceled") });
  });

  test("tell whether they are used, and are removed", async () => {
    await startMain();
    await runtime.pullImage("spare:1", undefined, signal);
    const listed = (await runtime.imageStore.list()).map(({ names, isUsed }) => [names[0], isUsed]);
    expect(listed).toEqual([
      ["docker.io/library/app:1", true],
      ["spare:1", false],
    ]);
    await runtime.imageStore.remove("sha256:spare:1");
    expect(await runtime.imageRef("spare:1")).toBeUndefined();
    const { capacityBytes, availableBytes } = await runtime.imageStore.fileSystem();
    expect(capacityBytes).toBeGreaterThan(availableBytes);
  });

  test("that would run as root are refused to containers that must not", async () => {
    expect(await failureOf(startMain(0, { ...spec, securityContext: { runAsNonRoot: true } }))).toMatchObject({
      reason: "CreateContainerConfigError",
      message: 'container has runAsNonRoot and image will run as root (pod: "web_shop(u1)", container: main)',
    });
  });
});

describe("logs", () => {
  test("are followed until the container ends", async () => {
    const { id } = await startMain();
    await cri.print(id, "one");
    const lines: string[] = [];
    for await (const { text } of runtime.logs(await find(id), { follow: true, signal })) {
      lines.push(Buffer.from(text).toString());
      if (lines.length === 1) {
        await cri.print(id, "two");
        cri.exit(id, 0);
      }
    }
    expect(lines).toEqual(["one\n", "two\n"]);
  });
});

describe("sessions", () => {
  async function session(words: readonly string[], input: readonly string[]) {
    const { id } = await startMain();
    const output: Uint8Array[] = [];
    const streams: ProcessStreams = {
      stdin: (async function* () {
        for (const chunk of input) yield Buffer.from(chunk);
      })(),
      stdout: (chunk) => void output.push(chunk),
    };
    const exitCode = await runtime.exec(id, words, { tty: false, signal }, streams);
    return { exitCode, output: Buffer.concat(output).toString() };
  }

  test("pass input and output, and tell the exit code", async () => {
    const large = "x".repeat(300_000);
    expect(await session(["cat"], ["hello ", large])).toEqual({ exitCode: 0, output: `hello ${large}` });
    expect(await session(["fail"], [])).toEqual({ exitCode: 3, output: "" });
  });

  test("say what the streaming server says", async () => {
    expect((await failureOf(session(["refuse"], []))).message).toMatch("the session is gone");
    cri.answers.Exec = () => ({ url: "http://127.0.0.1:1/exec" });
    expect((await failureOf(session(["cat"], []))).message).toMatch("cannot reach the runtime's streaming server");
  });

  test("are refused before they begin if the runtime has no such container", async () => {
    cri.answers.Exec = () => {
      throw new CriFailure("NOT_FOUND", 'container "gone" not found');
    };
    const choice = { stdin: false, stdout: true, stderr: false, tty: false };
    expect(await failureOf(runtime.acceptExec("gone", ["true"], choice))).toMatchObject({
      code: "NotFound",
      message: 'rpc error: code = NotFound desc = container "gone" not found',
    });
  });

  test("with a time limit are left to the runtime", async () => {
    const { id } = await startMain();
    const output: string[] = [];
    const stdout = (chunk: Uint8Array) => void output.push(Buffer.from(chunk).toString());
    const options = { tty: false, signal, timeoutSeconds: 2 };
    expect(await runtime.exec(id, ["fail", "now"], options, { stdout })).toBe(3);
    expect(output).toEqual(["fail now"]);
    expect(cri.calls).toContain("ExecSync");
  });

  test("attach to the container's process", async () => {
    const { id } = await startMain();
    const output: string[] = [];
    await runtime.attach(
      id,
      { tty: false, signal },
      {
        stdin: (async function* () {
          yield Buffer.from("hi");
        })(),
        stdout: (chunk) => void output.push(Buffer.from(chunk).toString()),
      },
    );
    expect(output).toEqual(["hi"]);
  });

  test("forward ports", async () => {
    const { sandbox } = await startMain();
    const output: string[] = [];
    const connection = {
      input: (async function* () {
        yield Buffer.from("ping");
      })(),
      output: (chunk: Uint8Array) => void output.push(Buffer.from(chunk).toString()),
      signal,
    };
    await runtime.portForward(sandbox.id, 8080, connection);
    expect(output).toEqual(["ping"]);
    expect((await failureOf(runtime.portForward(sandbox.id, 1, connection))).message).toMatch(/^connection refused$/);
  });
});

test("rotates the logs of containers that run", async () => {
  const rounds: (() => void)[] = [];
  const clock = {
    ...systemClock,
    every: (_: number, run: () => void) => (rounds.push(run), { [Symbol.dispose]() {} }),
  };
  await using other = await CriRuntime.open({ ...optionsOf(), clock });
  const { id } = await startMain();
  const { logPath = "" } = cri.runs.get(id) ?? {};
  appendFileSync(logPath, "x".repeat(200));
  for (const run of rounds) run();
  await until(() => readdirSync(join(logPath, "..")).length === 2);
  await until(() => existsSync(logPath));
  expect(readFileSync(logPath, "utf8")).toBe("");
  expect(cri.runs.get(id)?.state).toBe(containerStates.running);
  expect(other.version).toBe("fake://1.0");
});
