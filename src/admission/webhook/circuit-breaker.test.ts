import { expect, test } from "bun:test";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { CircuitBreaker, retryMs, timeoutsMax } from "./circuit-breaker.ts";

const webhook = { generation: "u/1/w/0", configuration: "c", name: "w" };

function setUp() {
  const clock = new ManualClock();
  const changes: boolean[] = [];
  const breaker = new CircuitBreaker(clock, (_, isOpen) => changes.push(isOpen));
  const timeOut = (times: number, which = webhook) => {
    for (let count = 0; count < times; count++) breaker.timedOut(which);
  };
  return { clock, changes, breaker, timeOut };
}

test("a webhook that times out again and again is tried once in a while only", () => {
  const { clock, changes, breaker, timeOut } = setUp();
  timeOut(timeoutsMax - 1);
  expect([breaker.admits(webhook), changes]).toEqual([true, []]);
  timeOut(1);
  expect([breaker.admits(webhook), changes]).toEqual([false, [true]]);
  clock.advance(retryMs);
  expect([breaker.admits(webhook), breaker.admits(webhook)]).toEqual([true, false]);
  timeOut(1);
  expect([breaker.admits(webhook), changes]).toEqual([false, [true]]);
  clock.advance(retryMs);
  expect(breaker.admits(webhook)).toBe(true);
  breaker.answered(webhook);
  expect([breaker.admits(webhook), changes]).toEqual([true, [true, false]]);
});

test("an answer in between starts the count anew", () => {
  const { breaker, timeOut } = setUp();
  timeOut(timeoutsMax - 1);
  breaker.answered(webhook);
  timeOut(timeoutsMax - 1);
  expect(breaker.admits(webhook)).toBe(true);
});

test("another webhook, and another generation of the same configuration, is called as ever", () => {
  const { breaker, timeOut } = setUp();
  timeOut(timeoutsMax);
  expect(breaker.admits({ ...webhook, generation: "u/2/w/0" })).toBe(true);
});
