import { expect, test } from "bun:test";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { Schedule } from "./schedule.ts";

function fixture() {
  const clock = new ManualClock();
  const schedule = new Schedule(clock);
  const done: string[] = [];
  const thing = (name: string) => ({ due: () => void done.push(name) });
  return { clock, schedule, done, thing, at: (ms: number) => clock.steadyMs() + ms };
}

test("things are due in the order of their times, with one timer for all", () => {
  const { clock, schedule, done, thing, at } = fixture();
  schedule.set(thing("late"), at(5_000));
  schedule.set(thing("early"), at(1_000));
  for (let number = 0; number < 100; number++) schedule.set(thing("crowd"), at(9_000));
  expect(clock.timers).toBe(1);
  clock.advance(999);
  expect(done).toEqual([]);
  clock.advance(4_001 + 20);
  expect(done).toEqual(["early", "late"]);
  clock.advance(10_000);
  expect(done.length).toBe(102);
  expect(clock.timers).toBe(0);
});

test("a new time replaces the old one, and a thing can be taken off", () => {
  const { clock, schedule, done, thing, at } = fixture();
  const [a, b] = [thing("a"), thing("b")];
  schedule.set(a, at(1_000));
  schedule.set(a, at(3_000));
  schedule.set(b, at(1_000));
  schedule.clear(b);
  clock.advance(2_000);
  expect(done).toEqual([]);
  clock.advance(2_000);
  expect(done).toEqual(["a"]);
});

test("a thing may set its next time while it is due", () => {
  const { clock, schedule, done, at } = fixture();
  const again = { due: () => void (done.push("again"), schedule.set(again, at(1_000))) };
  schedule.set(again, at(1_000));
  for (let second = 0; second < 4; second++) clock.advance(1_020);
  expect(done.length).toBe(4);
});

test("a thing that is always due again does not hold up the others", () => {
  const { clock, schedule, done, thing, at } = fixture();
  const greedy = { due: () => void (done.push("greedy"), schedule.set(greedy, at(-1_000))) };
  schedule.set(greedy, at(0));
  schedule.set(thing("other"), at(40));
  clock.advance(60);
  expect(done).toContain("other");
  expect(done.length).toBeLessThan(6);
});

test("times that have passed are due at once", () => {
  const { clock, schedule, done, thing, at } = fixture();
  schedule.set(thing("past"), at(-5_000));
  clock.advance(0);
  expect(done).toEqual(["past"]);
  schedule[Symbol.dispose]();
});
