import type { Clock } from "../../process/clock.ts";
import { type Charges, type SharedCharges, textOf } from "./shared-charges.ts";

/** Charges often are settled many at a time: they are taken back together. */
const settleDelayMs = 20;
const retryMs = 1_000;

export interface ChargeTellerParts {
  readonly namespace: string;
  readonly shared: SharedCharges;
  readonly clock: Clock;
  /** What was counted and is not stored yet. */
  readonly pending: () => Charges;
  /** Requests are being counted that are not among the pending ones yet. */
  readonly isCounting: () => boolean;
  /** Called when there may be nothing to tell any more. */
  readonly onIdle: () => void;
}

/** Sees to it that the other servers know of the charges of one namespace here: never of less than there is. */
export class ChargeTeller {
  readonly #parts: ChargeTellerParts;
  #isPlanned = false;
  /** One after another: the store may take writes that are on their way together in another order. */
  #telling: Promise<void> = Promise.resolve();

  constructor(parts: ChargeTellerParts) {
    this.#parts = parts;
  }

  /** There are others. */
  get isNeeded(): boolean {
    return this.#parts.shared.isNeeded;
  }

  /** The others know nothing, and have to know nothing. */
  get isIdle(): boolean {
    const { shared, namespace } = this.#parts;
    return !this.#isPlanned && shared.told(namespace) === "";
  }

  /** Resolves when the others can know of these charges, which are to be written to quotas. */
  async announce(charges: Charges): Promise<void> {
    const { shared, namespace } = this.#parts;
    const text = textOf(charges);
    await this.#telling;
    if (text !== shared.told(namespace)) await shared.tell(namespace, text);
  }

  /** Brings what the others know in line with what is pending, soon. */
  update(): void {
    if (this.#isPlanned || !this.#isDue()) return;
    this.#isPlanned = true;
    this.#parts.clock.after(settleDelayMs, () => {
      this.#isPlanned = false;
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
      // The others know of too much for now, which is the safe side.
      clock.after(retryMs, () => this.update());
    }
    onIdle();
  }
}
