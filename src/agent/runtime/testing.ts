import type { Container, ContainerImage, Pod } from "../../api/types/core-v1.ts";
import type { Clock } from "../../process/clock.ts";
import {
  type ContainerConfig,
  type ContainerState,
  type ContainerStats,
  type ExecOptions,
  type LogLine,
  type ProcessStreams,
  type Runtime,
  type RuntimeContainer,
  RuntimeError,
  type RuntimeId,
  type Sandbox,
} from "./runtime.ts";

/** How the containers of one name behave. */
export interface ContainerScript {
  /** How long a container takes to stop after the signal; it stops at once by default. */
  stopMs?: number;
  /** Exit code after the stop signal; 0 by default. */
  stopCode?: number;
  /** Answers of commands, by the command's first word. A number is the exit code. */
  exec?: (command: readonly string[]) => number | Promise<number>;
  /** Answers of probes; by default the agent probes. */
  probe?: (kind: "startup" | "liveness" | "readiness") => boolean | undefined;
  /** Errors of creation and start. */
  createError?: RuntimeError | undefined;
  startError?: RuntimeError | undefined;
}

interface FakeContainer {
  readonly config: ContainerConfig;
  readonly podUid: string;
  value: RuntimeContainer;
  /** Called when it ends. */
  readonly ended: Set<() => void>;
}

/** A runtime whose containers run until a test ends them. */
export class FakeRuntime implements Runtime {
  readonly version: string = "fake://1.0";
  /** The calls, in order: `run p`, `start web#0`, `stop web#0 30`, … */
  readonly log: string[] = [];
  readonly scripts = new Map<string, ContainerScript>();
  /** Images that are there, with their references. */
  readonly present = new Map<string, string>();
  /** Errors of pulls, by image. */
  readonly pullErrors = new Map<string, RuntimeError>();
  sandboxError: RuntimeError | undefined;
  networkProblem: string | undefined;
  readonly #clock: Clock;
  readonly #sandboxes = new Map<RuntimeId, Sandbox>();
  readonly #containers = new Map<RuntimeId, FakeContainer>();
  readonly #listeners = new Set<(podUid: string) => void>();
  #sequence = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ends the latest run of a container. */
  exit(podUid: string, name: string, exitCode: number, reason = exitCode === 0 ? "Completed" : "Error"): void {
    const latest = [...this.#containers.values()].findLast((one) => one.podUid === podUid && one.value.name === name);
    if (latest !== undefined) this.#end(latest, exitCode, reason);
    this.#tell(podUid);
  }

  /** Ends a sandbox as a reboot does: its containers end, and it stays in the list. */
  loseSandbox(podUid: string): void {
    for (const sandbox of this.#sandboxes.values()) {
      if (sandbox.podUid === podUid) this.#sandboxes.set(sandbox.id, { ...sandbox, isReady: false });
    }
    for (const one of this.#containers.values()) if (one.podUid === podUid) this.#end(one, 255, "Error");
    this.#tell(podUid);
  }

  configOf(id: RuntimeId): ContainerConfig | undefined {
    return this.#containers.get(id)?.config;
  }

  async problems(): Promise<readonly string[]> {
    return [];
  }

  async imageRef(image: string): Promise<string | undefined> {
    return this.present.get(image);
  }

  async pullImage(image: string, auth: string | undefined, _signal?: AbortSignal): Promise<string> {
    this.log.push(auth === undefined ? `pull ${image}` : `pull ${image} as ${auth}`);
    const error = this.pullErrors.get(image);
    if (error !== undefined) throw error;
    const ref = `${image.split(":")[0]}@sha256:${"0".repeat(64)}`;
    this.present.set(image, ref);
    return ref;
  }

  async images(): Promise<readonly ContainerImage[]> {
    return [...this.present].map(([image, ref]) => ({ names: [ref, image], sizeBytes: 1_000 }));
  }

  async runSandbox(pod: Pod, attempt: number): Promise<Sandbox> {
    if (this.sandboxError !== undefined) throw this.sandboxError;
    const { uid: podUid = "", namespace = "", name: podName = "" } = pod.metadata;
    this.log.push(`run ${podName}`);
    const number = ++this.#sequence;
    const sandbox: Sandbox = {
      id: `sandbox-${number}`,
      podUid,
      namespace,
      podName,
      isReady: true,
      ips: pod.spec?.hostNetwork === true ? [] : [`10.1.${attempt}.${number}`],
      attempt,
    };
    this.#sandboxes.set(sandbox.id, sandbox);
    return sandbox;
  }

  async stopSandbox(id: RuntimeId): Promise<void> {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox === undefined) return;
    this.log.push(`stop sandbox ${sandbox.podName}`);
    this.#sandboxes.set(id, { ...sandbox, isReady: false });
    for (const one of this.#containers.values()) {
      if (one.value.sandboxId === id && one.value.state.kind === "running") this.#end(one, 137, "Error");
    }
  }

  async removeSandbox(id: RuntimeId): Promise<void> {
    this.#sandboxes.delete(id);
    for (const [containerId, { value }] of this.#containers) {
      if (value.sandboxId === id) this.#containers.delete(containerId);
    }
  }

  async createContainer(sandbox: Sandbox, pod: Pod, config: ContainerConfig): Promise<RuntimeId> {
    const { name, image = "" } = config.spec;
    const error = this.scripts.get(name)?.createError;
    if (error !== undefined) throw error;
    const id = `container-${++this.#sequence}`;
    const { attempt, imageRef } = config;
    const value: RuntimeContainer = {
      id,
      sandboxId: sandbox.id,
      name,
      attempt,
      image,
      imageRef,
      state: { kind: "created" },
    };
    this.#containers.set(id, { config, podUid: pod.metadata.uid ?? "", value, ended: new Set() });
    return id;
  }

  async startContainer(id: RuntimeId): Promise<void> {
    const container = this.#require(id);
    const { name, attempt } = container.value;
    const error = this.scripts.get(name)?.startError;
    if (error !== undefined) throw error;
    this.log.push(`start ${name}#${attempt}`);
    this.#set(container, { kind: "running", startedAtMs: this.#clock.nowMs() });
  }

  async stopContainer(id: RuntimeId, graceSeconds: number): Promise<void> {
    const container = this.#containers.get(id);
    if (container?.value.state.kind !== "running") return;
    const { name, attempt } = container.value;
    const { stopMs = 0, stopCode = 0 } = this.scripts.get(name) ?? {};
    this.log.push(`stop ${name}#${attempt} ${graceSeconds}`);
    const isKilled = stopMs > graceSeconds * 1_000;
    const waitMs = isKilled ? graceSeconds * 1_000 : stopMs;
    if (waitMs > 0) {
      const { promise, resolve } = Promise.withResolvers<void>();
      container.ended.add(resolve);
      this.#clock.after(waitMs, resolve);
      await promise;
    }
    const exitCode = isKilled ? 137 : stopCode;
    this.#end(container, exitCode, exitCode === 0 ? "Completed" : "Error");
    this.#tell(container.podUid);
  }

  async removeContainer(id: RuntimeId): Promise<void> {
    const container = this.#containers.get(id);
    if (container !== undefined) this.log.push(`remove ${container.value.name}#${container.value.attempt}`);
    this.#containers.delete(id);
  }

  async updateResources(id: RuntimeId, resources: NonNullable<Container["resources"]>): Promise<void> {
    this.log.push(`resize ${this.#require(id).value.name} ${JSON.stringify(resources)}`);
  }

  async sandboxes(): Promise<readonly Sandbox[]> {
    return [...this.#sandboxes.values()];
  }

  async containers(): Promise<readonly RuntimeContainer[]> {
    return [...this.#containers.values()].map(({ value }) => value);
  }

  subscribe(listener: (podUid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async *logs(container: RuntimeContainer): AsyncIterable<LogLine> {
    const timeMs = this.#clock.nowMs();
    const text = Buffer.from(`${container.name} says hello\n`);
    yield { timeMs, time: new Date(timeMs).toISOString(), stream: "stdout", text };
  }

  async exec(
    id: RuntimeId,
    command: readonly string[],
    { signal, timeoutSeconds }: ExecOptions,
    streams: ProcessStreams,
  ): Promise<number> {
    const { name } = this.#require(id).value;
    this.log.push(`exec ${name} ${command.join(" ")}`);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    const late = () => reject(new RuntimeError("", "the command took too long", "DeadlineExceeded"));
    using _timer = timeoutSeconds === undefined ? undefined : this.#clock.after(timeoutSeconds * 1_000, late);
    await streams.stdout?.(Buffer.from(`output of ${command.join(" ")}`));
    return await Promise.race([Promise.resolve(this.scripts.get(name)?.exec?.(command) ?? 0), aborted]);
  }

  async attach(): Promise<void> {
    throw new RuntimeError("Unimplemented", "the fake runtime cannot attach", "Unimplemented");
  }

  async portForward(): Promise<void> {
    throw new RuntimeError("Unimplemented", "the fake runtime has no network", "Unimplemented");
  }

  probe({ name }: RuntimeContainer, kind: "startup" | "liveness" | "readiness"): boolean | undefined {
    return this.scripts.get(name)?.probe?.(kind);
  }

  async stats(): Promise<readonly ContainerStats[]> {
    return [];
  }

  async checkpoint(): Promise<void> {
    throw new RuntimeError("Unimplemented", "the fake runtime writes no checkpoints", "Unimplemented");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
  }

  #require(id: RuntimeId): FakeContainer {
    const container = this.#containers.get(id);
    if (container === undefined) throw new RuntimeError("", `container ${id} is gone`, "NotFound");
    return container;
  }

  #end(container: FakeContainer, exitCode: number, reason: string): void {
    const { state } = container.value;
    if (state.kind !== "running") return;
    const { startedAtMs } = state;
    for (const resolve of container.ended) resolve();
    this.#set(container, {
      kind: "exited",
      startedAtMs,
      finishedAtMs: this.#clock.nowMs(),
      exitCode,
      reason,
      message: "",
    });
  }

  #set(container: FakeContainer, state: ContainerState): void {
    container.value = { ...container.value, state };
  }

  #tell(podUid: string): void {
    for (const listener of this.#listeners) listener(podUid);
  }
}
