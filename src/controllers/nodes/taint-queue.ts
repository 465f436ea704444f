import type { Clock } from "../../process/clock.ts";

/** Maximum time of the timer. A lower rate takes several. */
const waitMsMax = 86_400_000;

export interface TaintQueueParts {
  readonly clock: Clock;
  /** Number of nodes per second while the state of the zone is unknown. */
  readonly rate: number;
  /** Taints one node. Never rejects. @returns whether the node is done */
  readonly taint: (node: string) => Promise<boolean>;
}

/** The nodes of one zone that are due a NoExecute taint, in order, and the rate. Each node waits once. */
export class TaintQueue implements Disposable {
  readonly #parts: TaintQueueParts;
  readonly #waiting = new Set<string>();
  #rate: number;
  /** Number of nodes that may be tainted now, with a fraction; at most one, so that idle time does not accumulate. */
  #allowance = 1;
  #earnedMs: number;
  #timer: Disposable | undefined;
  #isWorking = false;
  #stopped = false;

  constructor(parts: TaintQueueParts) {
    this.#parts = parts;
    this.#rate = parts.rate;
    this.#earnedMs = parts.clock.steadyMs();
  }

  add(node: string): void {
    this.#waiting.add(node);
  }

  remove(node: string): void {
    this.#waiting.delete(node);
  }

  /** Sets the number of nodes per second; 0 stops. */
  setRate(rate: number): void {
    if (rate === this.#rate) return;
    this.#earn();
    // A zone that had to wait, or was stopped, does not start with a node at once.
    this.#allowance = this.#rate > 0 && this.#allowance >= 1 ? 1 : 0;
    this.#rate = rate;
    this.#plan();
  }

  /** Taints as many nodes as are allowed now. The others follow later. */
  async work(): Promise<void> {
    if (this.#isWorking) return;
    this.#isWorking = true;
    try {
      for (const node of this.#waiting) {
        this.#earn();
        if (this.#allowance < 1 || this.#rate <= 0 || this.#stopped) break;
        this.#allowance -= 1;
        if (await this.#parts.taint(node)) this.#waiting.delete(node);
        else break;
      }
    } finally {
      this.#isWorking = false;
    }
    this.#plan();
  }

  [Symbol.dispose](): void {
    this.#stopped = true;
    this.#timer?.[Symbol.dispose]();
    this.#waiting.clear();
  }

  #earn(): void {
    const nowMs = this.#parts.clock.steadyMs();
    this.#allowance = Math.min(1, this.#allowance + ((nowMs - this.#earnedMs) * this.#rate) / 1_000);
    this.#earnedMs = nowMs;
  }

  #plan(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    if (this.#stopped || this.#waiting.size === 0 || this.#rate <= 0) return;
    const waitMs = Math.ceil(((1 - this.#allowance) / this.#rate) * 1_000);
    this.#timer = this.#parts.clock.after(Math.min(waitMsMax, Math.max(1, waitMs)), () => void this.work());
  }
}
