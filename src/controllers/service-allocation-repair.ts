import type { Clock } from "../process/clock.ts";
import { decodeEntry } from "../api/codec/stored-object.ts";
import type { AllocationRepair } from "../kinds/service-allocation/allocation-repair.ts";
import type { Registry } from "../registry/registry.ts";
import { type Revision, zeroRevision } from "../api/revision.ts";
import type { Store, StoreEvent } from "../storage/store.ts";
import type { ServerRecords } from "./server-records.ts";

/** Also the time after which no request is on its way any more. */
const intervalMs = 180_000;

export interface ServiceAllocationRepairParts {
  readonly repair: AllocationRepair;
  /** Of ipaddresses. */
  readonly addresses: Registry;
  readonly store: Store;
  readonly clock: Clock;
  readonly servers: Pick<ServerRecords, "inherited">;
  readonly onError: (error: unknown) => void;
}

/**
 * Mends allocations once after the start, then every three minutes, and at once when somebody deletes an address that is
 * in use. What nobody holds is given back when it was there at the round before; by a server that is alone at the start
 * too, as only an earlier run can have left it. Ages are told by revision: clocks of servers differ.
 */
export class ServiceAllocationRepair {
  readonly #parts: ServiceAllocationRepairParts;
  #running = false;
  #stopped = false;
  /** Requests that have claimed something up to this revision have ended. */
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

  /** What fails because the server has stopped meanwhile is no error. */
  async #guarded(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!this.#stopped) this.#parts.onError(error);
    }
  }
}
