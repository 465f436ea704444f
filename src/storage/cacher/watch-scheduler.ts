import type { Clock } from "../../process/clock.ts";

/** Work for the next turn. The same object is queued at most once. */
export interface Task {
  run(): void;
}
/** An object with a deadline. */
export interface Timed {
  due(nowMs: number): void;
}

/** Maximum duration of a turn. Other work then runs, so that a thousand watchers do not delay a request. */
const turnMsMax = 5;
/** Number of tasks between two checks of the turn's duration. */
const tasksPerCheck = 32;
const slotMs = 100;
/** Longest sleep, in slots. It bounds the search for the next slot. */
const sleepSlotsMax = 10;

/**
 * One timer and one turn for all watchers. Tasks run together once per turn of the event loop. Deadlines are kept in
 * slots of 100 ms, so that ten thousand of them need one timer. It sleeps through empty slots, because most servers have
 * idle watchers most of the time.
 */
export class WatchScheduler {
  readonly #clock: Clock;
  readonly #defer: (run: () => void) => void;
  #tasks = new Set<Task>();
  #deferred = false;
  readonly #slots = new Map<number, Set<Timed>>();
  readonly #slotOf = new Map<Timed, number>();
  #reached: number;
  #ticking: Disposable | undefined;
  /** Slot to which the timer is set. */
  #wakeAt = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, defer: (run: () => void) => void = setImmediate) {
    this.#clock = clock;
    this.#defer = defer;
    this.#reached = Math.floor(clock.steadyMs() / slotMs);
  }

  schedule(task: Task): void {
    this.#tasks.add(task);
    if (this.#deferred) return;
    this.#deferred = true;
    this.#defer(() => this.#runTurn());
  }

  unschedule(task: Task): void {
    this.#tasks.delete(task);
  }

  /** Calls `timed.due` once, at most 100 ms after `dueMs`. Replaces an earlier deadline. */
  arm(timed: Timed, dueMs: number): void {
    this.disarm(timed);
    if (this.#ticking === undefined) this.#reached = Math.floor(this.#clock.steadyMs() / slotMs);
    const slot = Math.max(this.#reached + 1, Math.ceil(dueMs / slotMs));
    const waiting = this.#slots.get(slot);
    if (waiting === undefined) this.#slots.set(slot, new Set([timed]));
    else waiting.add(timed);
    this.#slotOf.set(timed, slot);
    if (slot < this.#wakeAt) this.#sleepUntil(Math.min(slot, this.#reached + sleepSlotsMax));
  }

  disarm(timed: Timed): void {
    const slot = this.#slotOf.get(timed);
    if (slot === undefined) return;
    this.#slotOf.delete(timed);
    const waiting = this.#slots.get(slot);
    waiting?.delete(timed);
    if (waiting?.size === 0) this.#slots.delete(slot);
    if (this.#slotOf.size === 0) this.close();
  }

  /** Number of pending deadlines. */
  get armed(): number {
    return this.#slotOf.size;
  }

  close(): void {
    this.#ticking?.[Symbol.dispose]();
    this.#ticking = undefined;
    this.#wakeAt = Number.POSITIVE_INFINITY;
  }

  /** Sets the timer, which repeats because such a timer does not keep the process alive. */
  #sleepUntil(slot: number): void {
    if (slot === this.#wakeAt) return;
    this.close();
    this.#wakeAt = slot;
    const delayMs = Math.max(1, slot * slotMs - this.#clock.steadyMs());
    this.#ticking = this.#clock.every(delayMs, () => this.#tick());
  }

  /** Returns the next slot with a deadline, if it is near. */
  #nextSlot(): number {
    const lastSlot = this.#reached + sleepSlotsMax;
    for (let slot = this.#reached + 1; slot < lastSlot; slot++) {
      if (this.#slots.has(slot)) return slot;
    }
    return lastSlot;
  }

  #runTurn(): void {
    this.#deferred = false;
    const tasks = this.#tasks;
    this.#tasks = new Set();
    const startedMs = this.#clock.steadyMs();
    let done = 0;
    for (const task of tasks) {
      tasks.delete(task);
      task.run();
      if (++done % tasksPerCheck === 0 && this.#clock.steadyMs() - startedMs > turnMsMax) break;
    }
    if (tasks.size === 0) return;
    const later = this.#tasks;
    this.#tasks = tasks;
    for (const task of later) tasks.add(task);
    if (this.#deferred) return;
    this.#deferred = true;
    this.#defer(() => this.#runTurn());
  }

  #tick(): void {
    this.close();
    const nowMs = this.#clock.steadyMs();
    const now = Math.floor(nowMs / slotMs);
    // After a long sleep of the machine, walking the slots is cheaper than walking the elapsed time.
    const slots =
      now - this.#reached > this.#slots.size
        ? [...this.#slots.keys()].filter((slot) => slot <= now).sort((a, b) => a - b)
        : Array.from({ length: Math.max(0, now - this.#reached) }, (_, at) => this.#reached + 1 + at);
    this.#reached = Math.max(this.#reached, now);
    for (const slot of slots) {
      const due = this.#slots.get(slot);
      if (due === undefined) continue;
      this.#slots.delete(slot);
      for (const timed of due) this.#slotOf.delete(timed);
      for (const timed of due) timed.due(nowMs);
    }
    if (this.#slotOf.size > 0) this.#sleepUntil(this.#nextSlot());
  }
}
