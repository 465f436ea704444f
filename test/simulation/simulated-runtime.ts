import { drainMicrotasks } from "bun:jsc";
import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";

/** Maximum number of turns at one moment. Work that needs more never ends. */
const turnsMax = 10_000;

/**
 * Puts under the seed everything that the product takes from the runtime: turns of the event loop, the time within a
 * turn, and random values. Callbacks of a crashed process may still run; nothing that they write reaches the log.
 */
export class SimulatedRuntime {
  readonly #random: SeededRandom;
  readonly #nowMs: () => number;
  #waiting: (() => void)[] = [];

  constructor(random: SeededRandom, nowMs: () => number) {
    this.#random = random;
    this.#nowMs = nowMs;
  }

  /** Runs `work` with the replaced parts, and restores them. */
  run<T>(work: () => T): T {
    const { setImmediate: realImmediate } = globalThis;
    const [realNow, realRandom, realUuid] = [performance.now, Math.random, crypto.randomUUID];
    const fraction = () => this.#random.below(1_000_000) / 1_000_000;
    const immediate = (callback: () => void) => void this.#waiting.push(callback);
    try {
      globalThis.setImmediate = immediate as unknown as typeof setImmediate;
      performance.now = this.#nowMs;
      Math.random = fraction;
      crypto.randomUUID = () => `${this.#random.next()}-0-0-0-${this.#random.next()}`;
      return work();
    } finally {
      globalThis.setImmediate = realImmediate;
      performance.now = realNow;
      Math.random = realRandom;
      crypto.randomUUID = realUuid;
    }
  }

  /** Runs turns until only timers are left. */
  settle(): void {
    drainMicrotasks();
    for (let turn = 0; this.#waiting.length > 0; turn++) {
      if (turn === turnsMax) throw new Error("turns follow each other without end");
      const due = this.#waiting;
      this.#waiting = [];
      for (const callback of due) {
        callback();
        drainMicrotasks();
      }
    }
  }
}
