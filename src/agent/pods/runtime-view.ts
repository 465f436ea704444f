import type { Clock } from "../../process/clock.ts";
import type { Runtime, RuntimeContainer, Sandbox } from "../runtime/runtime.ts";

/** The sandboxes and containers of one pod. */
export interface RuntimePod {
  /** Newest first. */
  readonly sandboxes: readonly Sandbox[];
  /** The runs of all containers, oldest first. */
  readonly containers: readonly RuntimeContainer[];
}

const nothing: RuntimePod = { sandboxes: [], containers: [] };

/** The lists of a runtime by pod, as they were last read. */
export class RuntimeView {
  readonly #runtime: Pick<Runtime, "sandboxes" | "containers">;
  readonly #clock: Pick<Clock, "steadyMs">;
  #pods: ReadonlyMap<string, RuntimePod> = new Map();
  #reading: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  /** Start of the first reading that no success has followed yet, by the steady clock. */
  #awaitedSinceMs: number | undefined;

  constructor(runtime: Pick<Runtime, "sandboxes" | "containers">, clock: Pick<Clock, "steadyMs">) {
    this.#runtime = runtime;
    this.#clock = clock;
  }

  /** Time for which the runtime has been asked without success; 0 if it has answered the last question. */
  get silentMs(): number {
    return this.#awaitedSinceMs === undefined ? 0 : this.#clock.steadyMs() - this.#awaitedSinceMs;
  }

  of(podUid: string): RuntimePod {
    return this.#pods.get(podUid) ?? nothing;
  }

  /** Returns the uids of all pods of which the runtime has something. */
  podUids(): Iterable<string> {
    return this.#pods.keys();
  }

  /** Reads the lists. Calls that arrive during a reading share the next one, so at most one waits. */
  refresh(): Promise<void> {
    if (this.#reading === undefined) return this.#start();
    this.#next ??= this.#reading.then(
      () => this.#startNext(),
      () => this.#startNext(),
    );
    return this.#next;
  }

  #startNext(): Promise<void> {
    this.#next = undefined;
    return this.#start();
  }

  #start(): Promise<void> {
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<void> {
    this.#awaitedSinceMs ??= this.#clock.steadyMs();
    const [sandboxes, containers] = await Promise.all([this.#runtime.sandboxes(), this.#runtime.containers()]);
    const pods = new Map<string, { sandboxes: Sandbox[]; containers: RuntimeContainer[] }>();
    const podOf = new Map<string, { sandboxes: Sandbox[]; containers: RuntimeContainer[] }>();
    for (const sandbox of sandboxes) {
      let pod = pods.get(sandbox.podUid);
      if (pod === undefined) pods.set(sandbox.podUid, (pod = { sandboxes: [], containers: [] }));
      pod.sandboxes.push(sandbox);
      podOf.set(sandbox.id, pod);
    }
    for (const container of containers) podOf.get(container.sandboxId)?.containers.push(container);
    for (const pod of pods.values()) {
      if (pod.sandboxes.length > 1) pod.sandboxes.sort((a, b) => b.attempt - a.attempt);
      if (pod.containers.length > 1) pod.containers.sort((a, b) => a.attempt - b.attempt);
    }
    this.#pods = pods;
    this.#awaitedSinceMs = undefined;
  }
}
