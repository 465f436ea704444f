import { describe, expect, test } from "bun:test";
import { ManualClock } from "./testing.ts";
import { type Timed, WatchScheduler } from "./watch-scheduler.ts";

/** A clock that counts how often a timer fires. */
class CountingClock extends ManualClock {
  wakeUps = 0;

  override every(intervalMs: number, run: () => void): Disposable {
    return super.every(intervalMs, () => {
      this.wakeUps++;
      run();
    });
  }
}

class Alarm implements Timed {
  readonly calls: number[] = [];

  due(nowMs: number): void {
    this.calls.push(nowMs);
  }
}

describe("deadlines", () => {
  test.each([1, 100, 950, 1_000, 61_234, 3_600_000])("one in %i ms is called once, at most 100 ms late", (delayMs) => {
    const clock = new ManualClock();
    const scheduler = new WatchScheduler(clock);
    const alarm = new Alarm();
    const dueMs = clock.steadyMs() + delayMs;
    scheduler.arm(alarm, dueMs);
    clock.advance(delayMs + 10_000);
    expect(alarm.calls.length).toBe(1);
    expect(alarm.calls[0]).toBeGreaterThanOrEqual(dueMs);
    expect(alarm.calls[0]).toBeLessThanOrEqual(dueMs + 100);
    expect(clock.timers).toBe(0);
  });

  test.each([-3_600_000, 3_600_000])("one comes in time when the system's time is set by %i ms", (byMs) => {
    const clock = new ManualClock();
    const scheduler = new WatchScheduler(clock);
    const alarm = new Alarm();
    const dueMs = clock.steadyMs() + 60_000;
    scheduler.arm(alarm, dueMs);
    clock.advance(30_000);
    clock.set(byMs);
    clock.advance(30_000);
    expect(alarm.calls).toEqual([dueMs]);
  });

  test("an earlier one is not held up by a later one, whichever comes first", () => {
    const clock = new ManualClock();
    const scheduler = new WatchScheduler(clock);
    const [late, early] = [new Alarm(), new Alarm()];
    const startMs = clock.steadyMs();
    scheduler.arm(late, startMs + 900);
    clock.advance(50);
    scheduler.arm(early, startMs + 200);
    clock.advance(950);
    expect([early.calls, late.calls]).toEqual([[startMs + 200], [startMs + 900]]);
  });

  test("one that is replaced or taken back is not called", () => {
    const clock = new ManualClock();
    const scheduler = new WatchScheduler(clock);
    const [replaced, gone] = [new Alarm(), new Alarm()];
    scheduler.arm(replaced, clock.steadyMs() + 200);
    scheduler.arm(gone, clock.steadyMs() + 200);
    scheduler.arm(replaced, clock.steadyMs() + 5_000);
    scheduler.disarm(gone);
    clock.advance(1_000);
    expect([replaced.calls, gone.calls, scheduler.armed]).toEqual([[], [], 1]);
  });

  test("distant ones wake the server once a second", () => {
    const clock = new CountingClock();
    const scheduler = new WatchScheduler(clock);
    scheduler.arm(new Alarm(), clock.steadyMs() + 60_000);
    clock.advance(30_000);
    expect(clock.wakeUps).toBe(30);
  });
});
