import { expect, test } from "bun:test";
import type { Clock } from "../process/clock.ts";
import { Deadlines } from "./deadlines.ts";

/** A clock whose time can be set, as an administrator does, and can pass. */
class SettableClock implements Clock {
  #passedMs = 0;
  #setByMs = 0;
  readonly #timers = new Set<{ readonly dueMs: number; readonly run: () => void }>();

  nowMs(): number {
    return this.#passedMs + this.#setByMs;
  }
  steadyMs(): number {
    return this.#passedMs;
  }
  after(): Disposable {
    throw new Error("nothing here waits once");
  }
  every(intervalMs: number, run: () => void): Disposable {
    const timer = { dueMs: this.#passedMs + intervalMs, run };
    this.#timers.add(timer);
    return { [Symbol.dispose]: () => void this.#timers.delete(timer) };
  }
  set(byMs: number): void {
    this.#setByMs += byMs;
  }
  pass(ms: number): void {
    this.#passedMs += ms;
    for (const { dueMs, run } of this.#timers) if (dueMs <= this.#passedMs) run();
  }
}

test("deadlines end in their order, and those that are deleted do not end", () => {
  const clock = new SettableClock();
  const deadlines = new Deadlines(clock);
  const ended: string[] = [];
  deadlines.add(200, () => ended.push("late"));
  deadlines.add(100, () => ended.push("early"));
  deadlines.delete(deadlines.add(100, () => ended.push("deleted")));
  clock.pass(99);
  expect(ended).toEqual([]);
  clock.pass(1);
  expect(ended).toEqual(["early"]);
  clock.pass(100);
  expect(ended).toEqual(["early", "late"]);
});

for (const [name, byMs] of [
  ["forward", 3_600_000],
  ["back", -3_600_000],
] as const) {
  test(`a system's time that is set ${name} changes no deadline`, () => {
    const clock = new SettableClock();
    const deadlines = new Deadlines(clock);
    let ended = 0;
    deadlines.add(100, () => ended++);
    deadlines.add(50, () => {});
    clock.set(byMs);
    clock.pass(50);
    expect(ended).toBe(0);
    clock.pass(50);
    expect(ended).toBe(1);
  });
}
