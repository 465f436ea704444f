import type { Clock } from "../api/clock.ts";
import type { AllocationRepair } from "../registry/allocation/allocation-repair.ts";

const intervalMs = 180_000;
/** No request is on its way for so long. */
const requestMsMax = 60_000;

export interface ServiceAllocationRepairParts {
  readonly repair: AllocationRepair;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Mends allocations once after the start, where only what an earlier run has left can be wrong, and then every three minutes. */
export class ServiceAllocationRepair {
  readonly #parts: ServiceAllocationRepairParts;
  #running = false;

  constructor(parts: ServiceAllocationRepairParts) {
    this.#parts = parts;
  }

  start(): Disposable {
    const { clock } = this.#parts;
    void this.#run(clock.nowMs());
    return clock.every(intervalMs, () => void this.#run(clock.nowMs() - requestMsMax));
  }

  async #run(beforeMs: number): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    const { repair, onError } = this.#parts;
    try {
      const { conflicts } = await repair.run(beforeMs);
      for (const conflict of conflicts) onError(new Error(conflict));
    } catch (error) {
      onError(error);
    } finally {
      this.#running = false;
    }
  }
}
