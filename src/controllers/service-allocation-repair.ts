import { decodeEntry } from "../api/codec/stored-object.ts";
import { type Revision, zeroRevision } from "../api/revision.ts";
import type { AllocationRepair } from "../kinds/service-allocation/allocation-repair.ts";
import type { Clock } from "../process/clock.ts";
import type { Registry } from "../registry/registry.ts";
import type { Store, StoreEvent } from "../storage/store.ts";
import type { ServerRecords } from "./server-records.ts";

/** Interval of the repair. It also exceeds the duration of any request. */
const intervalMs = 180_000;

export interface ServiceAllocationRepairParts {
  readonly repair: AllocationRepair;
  /** Registry of ipaddresses. */
  readonly addresses: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly servers: Pick<ServerRecords, "inherited">;
  readonly onError: (error: unknown) => void;
}

/**
 * Repairs allocations once after the start, then every three minutes, and at once after the deletion of an address in
 * use. An allocation without an owner is released if it existed at the previous round. A server that is alone also
 * releases it at its start, because only an earlier run can have left it. Revisions determine the age, because servers'
 * clocks differ.
 */
export class ServiceAllocationRepair {
  readonly #parts: ServiceAllocationRepairParts;
  #running = false;
  #stopped = false;
  /** Revision up to which the allocating requests have ended. */
  #settled: Revision = zeroRevision;

  constructor(parts: ServiceAllocationRepairParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { clock, store, servers } = this.#parts;
    this.#settled = servers.inherited;
    const running = new DisposableStack();
    running.defer(() => {
      this.#stopped = true;
    });
    running.use(clock.after(0, () => void this.#run()));
    running.use(clock.every(intervalMs, () => void this.#run()));
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

  async #run(): Promise<void> {
    if (this.#running || this.#stopped) return;
    this.#running = true;
    const { repair, store, onError } = this.#parts;
    const settled = this.#settled;
    this.#settled = store.revision;
    await this.#guarded(async () => {
      const { conflicts } = await repair.run(settled);
      for (const conflict of conflicts) onError(new Error(conflict));
    });
    this.#running = false;
  }

  /** Ignores errors that happen because the server has stopped. */
  async #guarded(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!this.#stopped) this.#parts.onError(error);
    }
  }
}
