import sortedBTree from "sorted-btree";
import type { Clock } from "../../process/clock.ts";

/** Something that has work to do at a time. */
export interface Scheduled {
  /** Called at most once for each time that was set. Must not throw. */
  due(): void;
}

/** A bundler exposes a CommonJS module's exports as its default. Bun exposes the default as one of those exports. */
const BTree = (sortedBTree as typeof sortedBTree & { readonly default?: typeof sortedBTree }).default ?? sortedBTree;

/** Times are rounded up to this, so that work that is due at nearly the same time shares a timer. */
const tickMs = 20;
/** Longest wait of one timer. */
const waitMsMax = 3_600_000;

/** Due times of many things with a single timer. The number of things limits its size: each has one time at most. */
export class Schedule implements Disposable {
  readonly #clock: Clock;
  readonly #ticks = new BTree<number, Set<Scheduled>>();
  readonly #tickOf = new Map<Scheduled, number>();
  #timer: Disposable | undefined;
  #timerTick = Number.POSITIVE_INFINITY;
  /** The latest tick that has been worked off. */
  #lastTick = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Sets the time of a thing, in place of an earlier one. `dueMs` is a time of the steady clock. */
  set(thing: Scheduled, dueMs: number): void {
    // A thing that is due at once gets the next tick, so that no thing can keep the timer from ending.
    const tick = Math.max(Math.ceil(dueMs / tickMs), this.#lastTick + 1);
    const current = this.#tickOf.get(thing);
    if (current === tick) return;
    if (current !== undefined) this.#remove(thing, current);
    const things = this.#ticks.get(tick);
    if (things === undefined) this.#ticks.set(tick, new Set([thing]));
    else things.add(thing);
    this.#tickOf.set(thing, tick);
    if (tick < this.#timerTick) this.#arm();
  }

  clear(thing: Scheduled): void {
    const tick = this.#tickOf.get(thing);
    if (tick === undefined) return;
    this.#remove(thing, tick);
    this.#tickOf.delete(thing);
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#ticks.clear();
    this.#tickOf.clear();
  }

  #remove(thing: Scheduled, tick: number): void {
    const things = this.#ticks.get(tick);
    things?.delete(thing);
    if (things?.size === 0) this.#ticks.delete(tick);
  }

  #arm(): void {
    this.#timer?.[Symbol.dispose]();
    const tick = this.#ticks.minKey();
    this.#timerTick = tick ?? Number.POSITIVE_INFINITY;
    if (tick === undefined) return;
    const waitMs = Math.min(waitMsMax, Math.max(0, tick * tickMs - this.#clock.steadyMs()));
    this.#timer = this.#clock.after(waitMs, () => this.#run());
  }

  #run(): void {
    this.#lastTick = Math.floor(this.#clock.steadyMs() / tickMs);
    this.#timerTick = Number.NEGATIVE_INFINITY;
    for (let tick = this.#ticks.minKey(); tick !== undefined && tick <= this.#lastTick; tick = this.#ticks.minKey()) {
      const things = this.#ticks.get(tick) ?? new Set();
      this.#ticks.delete(tick);
      for (const thing of things) {
        this.#tickOf.delete(thing);
        thing.due();
      }
    }
    this.#arm();
  }
}
