import type { Clock } from "../../process/clock.ts";
import { type Charges, type SharedCharges, textOf } from "./shared-charges.ts";

/** Time for which settled charges are collected and removed together. */
const settleDelayMs = 20;
const retryMs = 1_000;

export interface ChargeTellerParts {
  readonly namespace: string;
  readonly shared: SharedCharges;
  readonly clock: Clock;
  /** Returns the charges that are counted and not stored yet. */
  readonly pending: () => Charges;
  /** Reports whether requests are being counted that are not pending yet. */
  readonly isCounting: () => boolean;
  /** Reports whether this server has stopped. Its record ends, and its charges with it. */
  readonly isStopped: () => boolean;
  /** Called when no charges may be left to announce. */
  readonly onIdle: () => void;
}

/** Publishes the charges of one namespace on this server to the others, never less than exist. */
export class ChargeTeller {
  readonly #parts: ChargeTellerParts;
  #isPlanned = false;
  /** The latest write. Writes are sequential, because the store may reorder concurrent ones. */
  #telling: Promise<void> = Promise.resolve();

  constructor(parts: ChargeTellerParts) {
    this.#parts = parts;
  }

  /** Whether other servers exist. */
  get isNeeded(): boolean {
    return this.#parts.shared.isNeeded;
  }

  /** Whether the others know no charges and need none. */
  get isIdle(): boolean {
    const { shared, namespace } = this.#parts;
    return !this.#isPlanned && shared.told(namespace) === "";
  }

  /** Resolves when the others can know these charges, which are about to be written to quotas. */
  async announce(charges: Charges): Promise<void> {
    const { shared, namespace } = this.#parts;
    const text = textOf(charges);
    await this.#telling;
    if (text !== shared.told(namespace)) await shared.tell(namespace, text);
  }

  /** Schedules an update of the published charges. */
  update(): void {
    if (this.#isPlanned || !this.#isDue()) return;
    this.#isPlanned = true;
    this.#parts.clock.after(settleDelayMs, () => {
      this.#isPlanned = false;
      if (this.#parts.isStopped()) return;
      if (this.#parts.isCounting()) this.update();
      else if (this.#isDue()) this.#telling = this.#tellPending();
      else this.#parts.onIdle();
    });
  }

  #isDue(): boolean {
    const { shared, namespace, pending } = this.#parts;
    const told = shared.told(namespace);
    return (shared.isNeeded || told !== "") && textOf(pending()) !== told;
  }

  async #tellPending(): Promise<void> {
    const { shared, namespace, pending, clock, onIdle } = this.#parts;
    try {
      await shared.tell(namespace, textOf(pending()));
    } catch {
      // Until then the others know too many charges, which is safe.
      clock.after(retryMs, () => this.update());
    }
    onIdle();
  }
}
