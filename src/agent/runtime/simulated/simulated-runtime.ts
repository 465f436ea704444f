import type { Container, ContainerImage, Pod } from "../../../api/types/core-v1.ts";
import { abortable } from "../../../process/abortable.ts";
import {
  type ContainerConfig,
  type ContainerStats,
  type ExecOptions,
  type LogLine,
  type PortConnection,
  type ProcessStreams,
  type Runtime,
  type RuntimeContainer,
  RuntimeError,
  type RuntimeId,
  type Sandbox,
} from "../runtime.ts";
import { drawMs } from "./behaviour.ts";
import { containerLog } from "./container-log.ts";
import { MadeFiles } from "./made-files.ts";
import type { PodAddresses } from "./pod-addresses.ts";
import { imageRule } from "./rules.ts";
import { SimulatedContainer } from "./simulated-container.ts";
import { simulatedExec } from "./simulated-exec.ts";
import { answerPort } from "./simulated-port.ts";
import type { Simulation } from "./simulation.ts";

const version = "1.0.0";
const imagesMax = 1_000;
const imageBytes = 10_000_000;
/** Use of a container: 1 % of a processor, and some memory. */
const cpuNanosecondsPerMs = 10_000;
const memoryBytes = 16 * 1_048_576;

interface SimulatedSandbox extends Sandbox {
  isReady: boolean;
  /** The ranges of `ips`. */
  readonly ranges: readonly PodAddresses[];
}

export interface SimulatedRuntimeOptions {
  readonly simulation: Simulation;
  /** Returns the ranges of pod addresses of the node; none if it has none. */
  readonly podRanges?: (() => readonly string[]) | undefined;
}

/** Containers without processes, on one node. They start, become ready and end as the rules of the simulation say. */
export class SimulatedRuntime implements Runtime {
  readonly version = `simulated://${version}`;
  readonly #simulation: Simulation;
  readonly #podRanges: () => readonly string[];
  readonly #sandboxes = new Map<RuntimeId, SimulatedSandbox>();
  readonly #containers = new Map<RuntimeId, SimulatedContainer>();
  readonly #files = new MadeFiles();
  /** Pulled images, the oldest first. */
  readonly #images = new Set<string>();
  readonly #listeners = new Set<(podUid: string) => void>();

  constructor({ simulation, podRanges = () => [] }: SimulatedRuntimeOptions) {
    this.#simulation = simulation;
    this.#podRanges = podRanges;
  }

  async problems(): Promise<readonly string[]> {
    return [];
  }

  async imageRef(image: string): Promise<string | undefined> {
    return this.#images.has(image) ? this.#simulation.imageRef(image) : undefined;
  }

  async pullImage(image: string, _auth: string | undefined, signal: AbortSignal): Promise<string> {
    const { rules, random } = this.#simulation;
    const rule = imageRule(rules, image);
    await this.#pass(drawMs(rule, random), signal);
    if (random() < rule.failureRate) {
      throw new RuntimeError("ErrImagePull", `failed to pull and unpack image "${image}": ${rule.message}`);
    }
    const [oldest] = this.#images;
    if (this.#images.size >= imagesMax && oldest !== undefined) this.#images.delete(oldest);
    this.#images.add(image);
    return this.#simulation.imageRef(image);
  }

  async images(): Promise<readonly ContainerImage[]> {
    return [...this.#images].map((image) => ({
      names: [this.#simulation.imageRef(image), image],
      sizeBytes: BigInt(imageBytes),
    }));
  }

  async runSandbox({ metadata, spec }: Pod, attempt: number): Promise<Sandbox> {
    const ranges = spec?.hostNetwork === true ? [] : this.#ranges();
    const sandbox: SimulatedSandbox = {
      id: this.#simulation.newId(),
      podUid: metadata.uid ?? "",
      namespace: metadata.namespace ?? "",
      podName: metadata.name ?? "",
      isReady: true,
      ips: takeAddresses(ranges),
      ranges,
      attempt,
    };
    this.#sandboxes.set(sandbox.id, sandbox);
    return sandbox;
  }

  async stopSandbox(id: RuntimeId): Promise<void> {
    const sandbox = this.#sandboxes.get(id);
    if (sandbox === undefined) return;
    for (const container of this.#containersOf(id)) container.kill();
    if (sandbox.isReady) releaseAddresses(sandbox.ranges, sandbox.ips);
    sandbox.isReady = false;
  }

  async removeSandbox(id: RuntimeId): Promise<void> {
    await this.stopSandbox(id);
    for (const container of this.#containersOf(id)) this.#containers.delete(container.id);
    const podUid = this.#sandboxes.get(id)?.podUid;
    if (podUid !== undefined) this.#files.forget(podUid);
    this.#sandboxes.delete(id);
  }

  async createContainer(sandbox: Sandbox, pod: Pod, config: ContainerConfig): Promise<RuntimeId> {
    if (!this.#sandboxes.has(sandbox.id)) throw notFound("sandbox", sandbox.id);
    const container = new SimulatedContainer(
      this.#simulation,
      { sandbox, pod, config, files: this.#files },
      ({ podUid }) => {
        for (const listener of this.#listeners) listener(podUid);
      },
    );
    this.#containers.set(container.id, container);
    return container.id;
  }

  async startContainer(id: RuntimeId): Promise<void> {
    const container = this.#container(id);
    await this.#pass(drawMs(container.behaviour.start, this.#simulation.random));
    container.start();
  }

  async stopContainer(id: RuntimeId, graceSeconds: number): Promise<void> {
    await this.#containers.get(id)?.stop(graceSeconds);
  }

  async removeContainer(id: RuntimeId): Promise<void> {
    this.#containers.get(id)?.kill();
    this.#containers.delete(id);
  }

  async updateResources(id: RuntimeId, _resources: NonNullable<Container["resources"]>): Promise<void> {
    this.#container(id);
  }

  async sandboxes(): Promise<readonly Sandbox[]> {
    return [...this.#sandboxes.values()];
  }

  async containers(): Promise<readonly RuntimeContainer[]> {
    return [...this.#containers.values()];
  }

  subscribe(listener: (podUid: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  async *logs({ id }: RuntimeContainer, options: { follow: boolean; signal: AbortSignal }): AsyncGenerator<LogLine> {
    yield* containerLog(this.#container(id), options);
  }

  async exec(
    id: RuntimeId,
    command: readonly string[],
    options: ExecOptions,
    streams: ProcessStreams,
  ): Promise<number> {
    return await simulatedExec(command, this.#running(id).world(), options, streams);
  }

  async attach(
    id: RuntimeId,
    { tty, signal }: { tty: boolean; signal: AbortSignal },
    { stdout, stderr }: ProcessStreams,
  ): Promise<void> {
    const container = this.#running(id);
    const { elapsedMs: fromMs } = container;
    for await (const { stream, text } of containerLog(container, { follow: true, signal, fromMs })) {
      await (stream === "stdout" || tty ? stdout : stderr)?.(text);
    }
  }

  async portForward(sandboxId: RuntimeId, port: number, connection: PortConnection): Promise<void> {
    const sandbox = this.#sandboxes.get(sandboxId);
    if (sandbox?.isReady !== true) throw notFound("sandbox", sandboxId);
    await answerPort(sandbox, port, connection);
  }

  probe({ id }: RuntimeContainer, kind: "startup" | "liveness" | "readiness"): boolean {
    return this.#containers.get(id)?.isSuccessful(kind) ?? false;
  }

  async stats(): Promise<readonly ContainerStats[]> {
    const timeMs = this.#simulation.clock.nowMs();
    return [...this.#containers.values()].flatMap(({ id: containerId, state, elapsedMs }) => {
      if (state.kind !== "running") return [];
      const cpuNanoseconds = Math.trunc(elapsedMs) * cpuNanosecondsPerMs;
      return [{ containerId, timeMs, cpuNanoseconds, memoryBytes, workingSetBytes: memoryBytes }];
    });
  }

  async checkpoint(): Promise<void> {
    throw new RuntimeError("CheckpointFailed", "simulated containers have no state to save", "Unimplemented");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    for (const id of this.#sandboxes.keys()) await this.removeSandbox(id);
  }

  #ranges(): readonly PodAddresses[] {
    const ranges = this.#podRanges();
    return ranges.length === 0
      ? this.#simulation.sharedAddresses
      : ranges.map((range) => this.#simulation.addressesIn(range));
  }

  #containersOf(sandboxId: RuntimeId): SimulatedContainer[] {
    return [...this.#containers.values()].filter((container) => container.sandboxId === sandboxId);
  }

  #container(id: RuntimeId): SimulatedContainer {
    const container = this.#containers.get(id);
    if (container === undefined) throw notFound("container", id);
    return container;
  }

  #running(id: RuntimeId): SimulatedContainer {
    const container = this.#container(id);
    if (container.state.kind !== "running") throw new RuntimeError("NotRunning", `container ${id} is not running`);
    return container;
  }

  /** Resolves after a simulated time. @throws the reason of the signal */
  async #pass(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms <= 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const { schedule, clock } = this.#simulation;
    const waiting = { due: resolve };
    schedule.set(waiting, clock.steadyMs() + ms);
    if (signal === undefined) return promise;
    try {
      await abortable(promise, signal);
    } finally {
      schedule.clear(waiting);
    }
  }
}

function notFound(what: string, id: RuntimeId): RuntimeError {
  return new RuntimeError("NotFound", `${what} "${id}" is not found`, "NotFound");
}

/** Takes one address of each range. @throws RuntimeError if a range has none left */
function takeAddresses(ranges: readonly PodAddresses[]): readonly string[] {
  const taken: string[] = [];
  for (const range of ranges) {
    const ip = range.take();
    if (ip === undefined) {
      releaseAddresses(ranges, taken);
      throw new RuntimeError("CreatePodSandboxError", `no address is left in ${range.cidr}`);
    }
    taken.push(ip);
  }
  return taken;
}

function releaseAddresses(ranges: readonly PodAddresses[], ips: readonly string[]): void {
  for (const [at, ip] of ips.entries()) ranges[at]?.release(ip);
}
