import type { MemberId } from "../../raft/core/ids.ts";
import type { Process, SimMember } from "../../raft/testing/simulator/sim-member.ts";
import type { World } from "../../raft/testing/simulator/world.ts";
import type { Clock } from "../../src/process/clock.ts";

/** One unit of the simulation is a millisecond of the processes in it. */
const epochMs = Date.UTC(2030, 0, 1);

/** The time of a simulated process. Its timers do not fire after a crash, and fire later if it is paused. */
export class ProcessClock implements Clock {
  readonly #world: World;
  readonly #member: MemberId;
  readonly #incarnation: number;
  readonly #skewMs: number;

  /** @param skewMs the error of the machine's date */
  constructor(world: World, { id }: Pick<SimMember, "id">, { incarnation }: Pick<Process, "incarnation">, skewMs = 0) {
    this.#world = world;
    this.#member = id;
    this.#incarnation = incarnation;
    this.#skewMs = skewMs;
  }

  nowMs(): number {
    return epochMs + this.#skewMs + this.#world.now;
  }

  steadyMs(): number {
    return this.#world.now;
  }

  after(delayMs: number, run: () => void): Disposable {
    let isDisposed = false;
    this.#schedule(delayMs, () => {
      if (!isDisposed) run();
    });
    return { [Symbol.dispose]: () => void (isDisposed = true) };
  }

  every(intervalMs: number, run: () => void): Disposable {
    let isDisposed = false;
    const next = () => {
      if (isDisposed) return;
      this.#schedule(intervalMs, next);
      run();
    };
    this.#schedule(intervalMs, next);
    return { [Symbol.dispose]: () => void (isDisposed = true) };
  }

  #schedule(delayMs: number, run: () => void): void {
    const event = { kind: "timer", member: this.#member, incarnation: this.#incarnation, run } as const;
    this.#world.schedule(Math.max(0, Math.round(delayMs)), event);
  }
}
