import { mkdir, readFile, rm } from "node:fs/promises";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Container, ContainerImage, LinuxContainerUser, Pod } from "../../../api/types/core-v1.ts";
import type { Clock } from "../../../process/clock.ts";
import { thrownText } from "../../../process/thrown-text.ts";
import { kernelHostname, podHostname } from "../../pods/pod-hostname.ts";
import { podLogDirectory } from "../../pods/start-container.ts";
import { type GrowingLog, readLog } from "../log-file/log-reader.ts";
import { removeLog } from "../log-file/log-writer.ts";
import {
  type AcceptedSession,
  type ContainerConfig,
  type ContainerStats,
  type ExecOptions,
  type ImageStore,
  type LogLine,
  type PortConnection,
  type ProcessStreams,
  type Runtime,
  type RuntimeContainer,
  RuntimeError,
  type RuntimeFeatures,
  type RuntimeId,
  type Sandbox,
  type SessionChoice,
} from "../runtime.ts";
import { Changes } from "./changes.ts";
import { containerConfig } from "./container-config.ts";
import { containerState, msOf } from "./container-state.ts";
import { CriClient } from "./cri-client.ts";
import { CriImages } from "./cri-images.ts";
import { type DnsOptions, dnsConfigOf, parseResolvConf } from "./dns-config.ts";
import { cgroupDrivers, containerStates, sandboxStates } from "./enums.ts";
import { labelNames } from "./labels.ts";
import { linuxResources } from "./linux-resources.ts";
import { type LogLimits, rotateLog } from "./log-rotation.ts";
import type { Draft, Message } from "./messages.ts";
import { type CgroupDriver, removePodCgroup } from "./pod-cgroup.ts";
import { sandboxConfig } from "./sandbox-config.ts";
import type { SecurityOptions } from "./security-context.ts";
import { runForward } from "./sessions/forward-session.ts";
import { runSession } from "./sessions/process-session.ts";
import { makeTerminationFile, removeTerminationFile, terminationMessage } from "./termination-message.ts";

/** Period of the search for logs that have grown too large. */
const rotationMs = 10_000;
/** Time between two reads of a log that is followed. */
const followMs = 200;
/** Time between two looks at whether a container whose log is followed still runs. */
const followStateMs = 1_000;

export interface CriRuntimeOptions {
  /** The socket: `unix:///run/containerd/containerd.sock`, or a path. */
  readonly endpoint: string;
  /** Time for a call that names none of its own, as kubelet's runtimeRequestTimeout. */
  readonly timeoutMs: number;
  /** The agent's own directory. */
  readonly rootDirectory: string;
  /** Directory of the logs of all pods. */
  readonly logDirectory: string;
  readonly logLimits: LogLimits;
  readonly dns: DnsOptions;
  /** File of the node's resolver; empty to give pods none of it. */
  readonly resolvConf: string;
  readonly security: SecurityOptions;
  /** For a runtime that does not tell which it uses. Undefined to let the runtime choose the groups of containers. */
  readonly cgroupDriver: CgroupDriver | undefined;
  /** Returns the handler that a RuntimeClass names. */
  readonly handlerOf: (runtimeClassName: string) => Promise<string>;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** The runtime behind a CRI v1 socket, such as containerd's. It keeps its state itself, also while no agent runs. */
export class CriRuntime implements Runtime {
  readonly version: string;
  readonly imageStore: ImageStore;
  readonly #options: CriRuntimeOptions;
  readonly #client: CriClient;
  readonly #images: CriImages;
  readonly #cgroupDriver: CgroupDriver | undefined;
  readonly #changes: Changes;
  readonly #rotation: Disposable;
  #isRotating = false;
  /** The addresses of sandboxes, which never change, by id. Entries go with their sandboxes. */
  readonly #ips = new Map<RuntimeId, readonly string[]>();
  /** Containers that have ended, which do not change any more, by id. Entries go with their containers. */
  readonly #ended = new Map<RuntimeId, RuntimeContainer>();
  #features: RuntimeFeatures | undefined;
  #networkProblem: string | undefined;

  /** Connects to the runtime. @throws RuntimeError if it does not answer, or speaks another version of CRI */
  static async open(options: CriRuntimeOptions): Promise<CriRuntime> {
    const client = new CriClient(options);
    try {
      const { runtimeName, runtimeVersion } = await client.call("Version", { version: "v1" });
      const driver = options.cgroupDriver === undefined ? undefined : await driverOf(client, options.cgroupDriver);
      return new CriRuntime(options, client, `${runtimeName}://${runtimeVersion}`, driver);
    } catch (error) {
      client[Symbol.dispose]();
      throw error;
    }
  }

  private constructor(
    options: CriRuntimeOptions,
    client: CriClient,
    version: string,
    driver: CgroupDriver | undefined,
  ) {
    this.version = version;
    this.#options = options;
    this.#client = client;
    this.#cgroupDriver = driver;
    this.#images = new CriImages(client);
    this.imageStore = this.#images;
    this.#changes = new Changes({ ...options, client });
    this.#rotation = options.clock.every(rotationMs, () => void this.#rotateLogs());
  }

  get features(): RuntimeFeatures | undefined {
    return this.#features;
  }

  get networkProblem(): string | undefined {
    return this.#networkProblem;
  }

  async problems(): Promise<readonly string[]> {
    let conditions: readonly Message<"RuntimeCondition">[];
    try {
      const { status, runtimeHandlers, features } = await this.#client.call("Status", {});
      conditions = status?.conditions ?? [];
      this.#features = {
        handlers: runtimeHandlers.map(({ name }) => name).sort(),
        supplementalGroupsPolicy: features?.supplementalGroupsPolicy === true,
      };
    } catch (error) {
      return [`container runtime is down: ${thrownText(error)}`];
    }
    const problemOf = (type: string, what: string) => {
      const { status = false, reason = "", message = "" } = conditions.find((one) => one.type === type) ?? {};
      return status ? [] : [`${what} not ready: ${type}=false reason:${reason} message:${message}`];
    };
    const ofNetwork = problemOf("NetworkReady", "container runtime network");
    this.#networkProblem = ofNetwork[0];
    return [...problemOf("RuntimeReady", "container runtime"), ...ofNetwork];
  }

  imageRef(image: string): Promise<string | undefined> {
    return this.#images.refOf(image);
  }

  pullImage(image: string, auth: string | undefined, signal: AbortSignal): Promise<string> {
    return this.#images.pull(image, auth, signal);
  }

  images(): Promise<readonly ContainerImage[]> {
    return this.#images.names();
  }

  async runSandbox(pod: Pod, attempt: number): Promise<Sandbox> {
    const reason = "CreatePodSandboxError";
    const handler = await this.#handlerOf(pod).catch((error: unknown) => {
      throw new RuntimeError(reason, thrownText(error));
    });
    const config = await this.#sandboxConfig(pod, attempt);
    await mkdir(config.logDirectory ?? "", { recursive: true, mode: 0o755 });
    // Networks take their time.
    const timeoutMs = 2 * this.#client.timeoutMs;
    const { podSandboxId } = await this.#client.call(
      "RunPodSandbox",
      { config, runtimeHandler: handler },
      {
        reason,
        timeoutMs,
      },
    );
    const { status } = await this.#client.call("PodSandboxStatus", { podSandboxId }, { reason });
    if (status === null) throw new RuntimeError(reason, "the runtime does not know the sandbox that it made");
    const ips = ipsOf(status);
    this.#ips.set(podSandboxId, ips);
    return sandboxOf(status, ips);
  }

  async stopSandbox(id: RuntimeId): Promise<void> {
    await gone(this.#client.call("StopPodSandbox", { podSandboxId: id }));
  }

  async removeSandbox(id: RuntimeId): Promise<void> {
    const { items } = await this.#client.call("ListPodSandbox", {});
    const metadata = items.find((item) => item.id === id)?.metadata;
    await gone(this.#client.call("RemovePodSandbox", { podSandboxId: id }));
    this.#ips.delete(id);
    if (metadata == null || items.some((item) => item.id !== id && item.metadata?.uid === metadata.uid)) return;
    if (this.#cgroupDriver === "cgroupfs") removePodCgroup(metadata.uid);
    await rm(podLogDirectory(this.#options.logDirectory, { metadata }), { recursive: true, force: true });
  }

  async createContainer(sandbox: Sandbox, pod: Pod, config: ContainerConfig): Promise<RuntimeId> {
    const { spec, imageRef, logPath, mounts } = config;
    const { security } = this.#options;
    const user = await this.#images.userOf(imageRef);
    await mkdir(dirname(logPath), { recursive: true, mode: 0o755 });
    const directory = this.#containerDirectory(sandbox.podUid, spec.name);
    const request = {
      podSandboxId: sandbox.id,
      config: containerConfig(pod, config, {
        user,
        security,
        logDirectory: podLogDirectory(this.#options.logDirectory, pod),
        machineMemoryBytes: totalmem(),
        extraMounts: await makeTerminationFile(directory, spec, mounts),
        targetId: await this.#targetOf(sandbox, spec),
      }),
      sandboxConfig: await this.#sandboxConfig(pod, sandbox.attempt),
    };
    const options = { reason: "CreateContainerError", isBare: true };
    return (await this.#client.call("CreateContainer", request, options)).containerId;
  }

  async startContainer(id: RuntimeId): Promise<void> {
    await this.#client.call("StartContainer", { containerId: id }, { reason: "RunContainerError", isBare: true });
  }

  async stopContainer(id: RuntimeId, graceSeconds: number): Promise<void> {
    const timeoutMs = this.#client.timeoutMs + graceSeconds * 1_000;
    await gone(this.#client.call("StopContainer", { containerId: id, timeout: graceSeconds }, { timeoutMs }));
  }

  async removeContainer(id: RuntimeId): Promise<void> {
    const status = await this.#statusOf(id);
    if (status === undefined) return;
    await gone(this.#client.call("RemoveContainer", { containerId: id }));
    this.#ended.delete(id);
    const podUid = status.labels[labelNames.podUid] ?? "";
    await removeTerminationFile(this.#containerDirectory(podUid, status.metadata?.name ?? ""), status);
    if (status.logPath !== "") removeLog(status.logPath);
  }

  async updateResources(id: RuntimeId, resources: NonNullable<Container["resources"]>): Promise<void> {
    await this.#client.call("UpdateContainerResources", { containerId: id, linux: linuxResources(resources) });
  }

  async sandboxes(): Promise<readonly Sandbox[]> {
    const { items } = await this.#client.call("ListPodSandbox", {});
    const own = items.filter(({ labels }) => labels[labelNames.podUid] !== undefined);
    const found = await Promise.all(
      own.map(async (item) => {
        const ips = this.#ips.get(item.id) ?? (await this.#learnIps(item.id));
        return ips === undefined ? undefined : sandboxOf(item, ips);
      }),
    );
    const ids = new Set(items.map(({ id }) => id));
    for (const id of this.#ips.keys()) if (!ids.has(id)) this.#ips.delete(id);
    return found.filter((sandbox) => sandbox !== undefined);
  }

  async containers(): Promise<readonly RuntimeContainer[]> {
    const { containers } = await this.#client.call("ListContainers", {});
    const own = containers.filter(({ labels }) => labels[labelNames.podUid] !== undefined);
    const found = await Promise.all(own.map(({ id, podSandboxId }) => this.#containerOf(id, podSandboxId)));
    const ids = new Set(own.map(({ id }) => id));
    for (const id of this.#ended.keys()) if (!ids.has(id)) this.#ended.delete(id);
    return found.filter((container) => container !== undefined).sort((a, b) => a.attempt - b.attempt);
  }

  subscribe(listener: (podUid: string) => void): Disposable {
    return this.#changes.subscribe(listener);
  }

  async *logs(
    { id }: RuntimeContainer,
    { follow, signal }: { follow: boolean; signal: AbortSignal },
  ): AsyncIterable<LogLine> {
    const status = await this.#statusOf(id);
    if (status === undefined) throw new RuntimeError("RuntimeError", `container ${id} is gone`, "NotFound");
    yield* readLog(status.logPath, signal, follow ? this.#growingLog(id) : undefined);
  }

  async exec(
    id: RuntimeId,
    command: readonly string[],
    { tty, signal, timeoutSeconds }: ExecOptions,
    streams: ProcessStreams,
  ): Promise<number> {
    const choice = choiceOf(streams, tty);
    if (timeoutSeconds !== undefined && !tty && !choice.stdin) {
      return this.#execSync(id, command, timeoutSeconds, streams);
    }
    const run = await this.acceptExec(id, command, choice);
    return run(streams, signal);
  }

  async acceptExec(id: RuntimeId, command: readonly string[], choice: SessionChoice): Promise<AcceptedSession<number>> {
    const { stdin, tty } = choice;
    const stderr = choice.stderr && !tty;
    // The runtime wants one stream at least.
    const stdout = choice.stdout || !(stdin || stderr);
    const { url } = await this.#client.call("Exec", { containerId: id, cmd: command, tty, stdin, stdout, stderr });
    return (streams, signal) =>
      runSession(url, { tty, signal }, { ...streams, ...(stdout ? { stdout: streams.stdout ?? (() => {}) } : {}) });
  }

  async attach(id: RuntimeId, { tty, signal }: Omit<ExecOptions, "timeoutSeconds">, streams: ProcessStreams) {
    const run = await this.acceptAttach(id, choiceOf(streams, tty));
    await run(streams, signal);
  }

  async acceptAttach(id: RuntimeId, choice: SessionChoice): Promise<AcceptedSession<void>> {
    const { stdin, stdout, tty } = choice;
    const stderr = choice.stderr && !tty;
    const { url } = await this.#client.call("Attach", { containerId: id, tty, stdin, stdout, stderr });
    return async (streams, signal) => {
      await runSession(url, { tty, signal }, streams);
    };
  }

  async portForward(sandboxId: RuntimeId, port: number, connection: PortConnection): Promise<void> {
    const request = { podSandboxId: sandboxId, port: [port] };
    const { url } = await this.#client.call("PortForward", request, { signal: connection.signal });
    await runForward(url, port, connection);
  }

  async stats(): Promise<readonly ContainerStats[]> {
    const { stats } = await this.#client.call("ListContainerStats", {});
    return stats.map(({ attributes, cpu, memory, writableLayer }) => ({
      containerId: attributes?.id ?? "",
      timeMs: msOf(cpu?.timestamp ?? memory?.timestamp ?? 0),
      cpuNanoseconds: cpu?.usageCoreNanoSeconds?.value ?? 0,
      // Not every runtime tells more than the working set.
      memoryBytes: memory?.usageBytes?.value || (memory?.workingSetBytes?.value ?? 0),
      workingSetBytes: memory?.workingSetBytes?.value ?? 0,
      ...(writableLayer == null
        ? {}
        : { writable: { bytes: writableLayer.usedBytes?.value ?? 0, inodes: writableLayer.inodesUsed?.value ?? 0 } }),
    }));
  }

  async checkpoint(id: RuntimeId, location: string, timeoutSeconds: number): Promise<void> {
    const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1_000 : this.#client.timeoutMs;
    const request = { containerId: id, location, timeout: timeoutSeconds };
    await this.#client.call("CheckpointContainer", request, { timeoutMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#rotation[Symbol.dispose]();
    this.#changes[Symbol.dispose]();
    this.#client[Symbol.dispose]();
  }

  /** Returns the directory of what the agent keeps for the runs of a container. */
  #containerDirectory(podUid: string, name: string): string {
    return join(this.#options.rootDirectory, "pods", podUid, "containers", name);
  }

  async #sandboxConfig(pod: Pod, attempt: number): Promise<Draft<"PodSandboxConfig">> {
    const { dns, resolvConf, logDirectory } = this.#options;
    const isOnHost = pod.spec?.hostNetwork === true;
    const host = parseResolvConf(resolvConf === "" ? "" : await readFile(resolvConf, "utf8"));
    return sandboxConfig(pod, {
      attempt,
      hostname: isOnHost ? "" : kernelHostname(pod, podHostname(pod, dns.domain)),
      dns: dnsConfigOf(pod, host, dns),
      logDirectory: podLogDirectory(logDirectory, pod),
      cgroupDriver: this.#cgroupDriver,
    });
  }

  /** Returns the container whose processes an ephemeral container wants to see. */
  async #targetOf(sandbox: Sandbox, spec: Container & { readonly targetContainerName?: string }) {
    const name = spec.targetContainerName ?? "";
    if (name === "") return undefined;
    const { containers } = await this.#client.call("ListContainers", {});
    const target = containers.find(
      ({ podSandboxId, metadata, state }) =>
        podSandboxId === sandbox.id && metadata?.name === name && state === containerStates.running,
    );
    if (target !== undefined) return target.id;
    throw new RuntimeError("CreateContainerConfigError", `unable to find target container ${name}`);
  }

  async #statusOf(id: RuntimeId): Promise<Message<"ContainerStatus"> | undefined> {
    const answer = await gone(this.#client.call("ContainerStatus", { containerId: id }));
    return answer?.status ?? undefined;
  }

  /** Returns the container; undefined if it was removed in the meantime. */
  async #containerOf(id: RuntimeId, sandboxId: RuntimeId): Promise<RuntimeContainer | undefined> {
    const ended = this.#ended.get(id);
    if (ended !== undefined) return ended;
    const status = await this.#statusOf(id);
    if (status === undefined) return undefined;
    const hasEnded = status.state === containerStates.exited;
    const container: RuntimeContainer = {
      id,
      sandboxId,
      name: status.metadata?.name ?? "",
      attempt: status.metadata?.attempt ?? 0,
      image: status.image?.image ?? "",
      imageRef: status.imageRef,
      state: containerState(status, hasEnded ? terminationMessage(status) : ""),
      user: userOf(status),
    };
    if (hasEnded) this.#ended.set(id, container);
    return container;
  }

  /** Returns the addresses of a sandbox; undefined if it was removed in the meantime. */
  async #learnIps(id: RuntimeId): Promise<readonly string[] | undefined> {
    const answer = await gone(this.#client.call("PodSandboxStatus", { podSandboxId: id }));
    if (answer?.status == null) return undefined;
    const ips = ipsOf(answer.status);
    this.#ips.set(id, ips);
    return ips;
  }

  /** Runs a command that the runtime kills when its time is over. */
  async #execSync(id: RuntimeId, cmd: readonly string[], timeout: number, streams: ProcessStreams): Promise<number> {
    const timeoutMs = this.#client.timeoutMs + timeout * 1_000;
    const answer = await this.#client.call(
      "ExecSync",
      { containerId: id, cmd, timeout: Math.ceil(timeout) },
      { timeoutMs },
    );
    if (answer.stdout.length > 0) await streams.stdout?.(answer.stdout);
    if (answer.stderr.length > 0) await streams.stderr?.(answer.stderr);
    return answer.exitCode;
  }

  #growingLog(id: RuntimeId): GrowingLog {
    let isClosed = false;
    let lookedMs = this.#options.clock.steadyMs();
    const look = async () => {
      await sleep(followMs);
      const steadyMs = this.#options.clock.steadyMs();
      if (steadyMs - lookedMs < followStateMs) return;
      lookedMs = steadyMs;
      try {
        isClosed = (await this.#statusOf(id))?.state !== containerStates.running;
      } catch {
        // A runtime that restarts leaves its containers running.
      }
    };
    return {
      get isClosed() {
        return isClosed;
      },
      get changed() {
        return look();
      },
    };
  }

  /** Rotates the logs of running containers; the others do not grow. */
  async #rotateLogs(): Promise<void> {
    if (this.#isRotating) return;
    this.#isRotating = true;
    const { clock, logLimits, onError } = this.#options;
    try {
      const { containers } = await this.#client.call("ListContainers", {});
      for (const { id, labels, state } of containers) {
        if (state !== containerStates.running || labels[labelNames.podUid] === undefined) continue;
        const path = (await this.#statusOf(id))?.logPath ?? "";
        if (path === "") continue;
        const reopen = async () => void (await this.#client.call("ReopenContainerLog", { containerId: id }));
        await rotateLog(path, logLimits, clock, reopen).catch(onError);
      }
    } catch (error) {
      onError(error);
    } finally {
      this.#isRotating = false;
    }
  }

  /** Returns the handler of the runtime for a pod; the default one is empty. */
  async #handlerOf({ spec }: Pod): Promise<string> {
    if (spec?.hostUsers === false)
      throw new Error("user namespaces (hostUsers: false) are not supported by this agent");
    const { runtimeClassName = "" } = spec ?? {};
    return runtimeClassName === "" ? "" : await this.#options.handlerOf(runtimeClassName);
  }
}

function choiceOf({ stdin, stdout, stderr }: ProcessStreams, tty: boolean): SessionChoice {
  return { stdin: stdin !== undefined, stdout: stdout !== undefined, stderr: stderr !== undefined, tty };
}

/** Asks the runtime which manager of control groups it uses. */
async function driverOf(client: CriClient, otherwise: CgroupDriver): Promise<CgroupDriver> {
  try {
    const { linux } = await client.call("RuntimeConfig", {});
    if (linux === null) return otherwise;
    return linux.cgroupDriver === cgroupDrivers.cgroupfs ? "cgroupfs" : "systemd";
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "Unimplemented") return otherwise;
    throw error;
  }
}

/** Resolves to nothing if what the call is about is gone. */
async function gone<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === "NotFound") return undefined;
    throw error;
  }
}

function userOf({ user }: Message<"ContainerStatus">): LinuxContainerUser | undefined {
  if (user?.linux == null) return undefined;
  const { uid, gid, supplementalGroups } = user.linux;
  return { uid, gid, ...(supplementalGroups.length === 0 ? {} : { supplementalGroups: [...supplementalGroups] }) };
}

function ipsOf({ network }: Message<"PodSandboxStatus">): string[] {
  if (network === null || network.ip === "") return [];
  return [network.ip, ...network.additionalIps.map(({ ip }) => ip)];
}

function sandboxOf(
  { id, metadata, state }: Message<"PodSandbox"> | Message<"PodSandboxStatus">,
  ips: readonly string[],
): Sandbox {
  return {
    id,
    podUid: metadata?.uid ?? "",
    namespace: metadata?.namespace ?? "",
    podName: metadata?.name ?? "",
    isReady: state === sandboxStates.ready,
    ips,
    attempt: metadata?.attempt ?? 0,
  };
}
