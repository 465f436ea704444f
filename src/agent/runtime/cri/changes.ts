import type { Clock } from "../../../process/clock.ts";
import type { CriClient } from "./cri-client.ts";

const relistMs = 1_000;
/** Time after which a runtime whose events have ended is asked again. */
const resubscribeMs = 5_000;

/** The state of every sandbox and container, by id. */
type States = ReadonlyMap<string, { readonly podUid: string; readonly state: number }>;

export interface ChangesOptions {
  readonly client: CriClient;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Tells which pods have changed in the runtime, as long as anyone listens. The runtime's events tell at once; its
 * lists, compared once a second, also tell what no event has told.
 */
export class Changes implements Disposable {
  readonly #options: ChangesOptions;
  readonly #listeners = new Set<(podUid: string) => void>();
  #known: States | undefined;
  #isListing = false;
  #running: AbortController | undefined;
  #timer: Disposable | undefined;
  #resubscription: Disposable | undefined;

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  subscribe(listener: (podUid: string) => void): Disposable {
    this.#listeners.add(listener);
    if (this.#running === undefined) this.#start();
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.#stop();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#listeners.clear();
    this.#stop();
  }

  #start(): void {
    const running = new AbortController();
    this.#running = running;
    this.#timer = this.#options.clock.every(relistMs, () => void this.#list());
    void this.#list();
    void this.#follow(running.signal);
  }

  #stop(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    this.#resubscription?.[Symbol.dispose]();
    this.#resubscription = undefined;
    this.#known = undefined;
  }

  async #list(): Promise<void> {
    // A slow runtime is asked again when it has answered.
    if (this.#isListing || this.#running === undefined) return;
    this.#isListing = true;
    try {
      const states = await statesOf(this.#options.client);
      const known = this.#known;
      this.#known = states;
      if (known === undefined) return;
      const changed = [
        ...[...states].filter(([id, { state }]) => known.get(id)?.state !== state),
        ...[...known].filter(([id]) => !states.has(id)),
      ];
      for (const podUid of new Set(changed.map(([, entry]) => entry.podUid))) this.#tell(podUid);
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#isListing = false;
    }
  }

  /** Follows the events. A runtime without any is left to the lists. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    try {
      for await (const { podSandboxStatus } of client.events(signal)) {
        const podUid = podSandboxStatus?.metadata?.uid ?? "";
        if (podUid !== "") this.#tell(podUid);
      }
    } catch {
      // Unimplemented, or the runtime restarts. The lists tell meanwhile.
    }
    if (signal.aborted) return;
    this.#resubscription = clock.after(resubscribeMs, () => void this.#follow(signal));
  }

  #tell(podUid: string): void {
    for (const listener of this.#listeners) listener(podUid);
  }
}

async function statesOf(client: CriClient): Promise<States> {
  const [{ items }, { containers }] = await Promise.all([
    client.call("ListPodSandbox", {}),
    client.call("ListContainers", {}),
  ]);
  const states = new Map(items.map(({ id, metadata, state }) => [id, { podUid: metadata?.uid ?? "", state }]));
  for (const { id, podSandboxId, state } of containers) {
    states.set(id, { podUid: states.get(podSandboxId)?.podUid ?? "", state });
  }
  return states;
}
