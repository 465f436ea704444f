import type { Clock } from "../api/clock.ts";
import { decodeEntry } from "../codec/stored-object.ts";
import type { AllocationRepair } from "../registry/allocation/allocation-repair.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store, StoreEvent } from "../storage/store.ts";

const intervalMs = 180_000;
/** No request is on its way for so long. */
const requestMsMax = 60_000;

export interface ServiceAllocationRepairParts {
  readonly repair: AllocationRepair;
  /** Of ipaddresses. */
  readonly addresses: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Mends allocations once after the start, where only what an earlier run has left can be wrong, then every three minutes,
 * and at once when somebody deletes an address that is in use.
 */
export class ServiceAllocationRepair {
  readonly #parts: ServiceAllocationRepairParts;
  #running = false;
  #stopped = false;

  constructor(parts: ServiceAllocationRepairParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { clock, store } = this.#parts;
    const startedMs = clock.nowMs();
    const running = new DisposableStack();
    running.defer(() => {
      this.#stopped = true;
    });
    running.use(clock.after(0, () => void this.#run(startedMs)));
    running.use(clock.every(intervalMs, () => void this.#run(clock.nowMs() - requestMsMax)));
    running.use(store.subscribe((events) => this.#receive(events)));
    return running;
  }

  #receive(events: readonly StoreEvent[]): void {
    const { info } = this.#parts.addresses;
    for (const { type, entry } of events) {
      if (type !== "DELETED" || !entry.key.startsWith(info.keyPrefix)) continue;
      void this.#guarded(() => this.#parts.repair.reclaim(decodeEntry(entry, info)));
    }
  }

  async #run(beforeMs: number): Promise<void> {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    const { repair, onError } = this.#parts;
    await this.#guarded(async () => {
      const { conflicts } = await repair.run(beforeMs);
      for (const conflict of conflicts) onError(new Error(conflict));
    });
    this.#running = false;
  }

  /** What fails because the server has stopped meanwhile is no error. */
  async #guarded(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!this.#stopped) this.#parts.onError(error);
    }
  }
}
