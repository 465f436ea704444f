import { expect, test } from "bun:test";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { CircuitBreaker, circuitsMax, retryMs, timeoutsMax } from "./circuit-breaker.ts";

const webhook = { revisionKey: "u/1/w/0", configuration: "c", name: "w" };

function setUp() {
  const clock = new ManualClock();
  const changes: string[] = [];
  const breaker = new CircuitBreaker(clock, (_, state) => changes.push(state));
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
  expect([breaker.admits(webhook), changes]).toEqual([false, ["open"]]);
  clock.advance(retryMs);
  expect([breaker.admits(webhook), breaker.admits(webhook)]).toEqual([true, false]);
  timeOut(1);
  expect([breaker.admits(webhook), changes]).toEqual([false, ["open"]]);
  clock.advance(retryMs);
  expect(breaker.admits(webhook)).toBe(true);
  breaker.answered(webhook);
  expect([breaker.admits(webhook), changes]).toEqual([true, ["open", "closed"]]);
});

test("an answer in between restarts the count", () => {
  const { breaker, timeOut } = setUp();
  timeOut(timeoutsMax - 1);
  breaker.answered(webhook);
  timeOut(timeoutsMax - 1);
  expect(breaker.admits(webhook)).toBe(true);
});

test("another webhook, and another revision of the same configuration, is called as ever", () => {
  const { breaker, timeOut } = setUp();
  timeOut(timeoutsMax);
  expect(breaker.admits({ ...webhook, revisionKey: "u/2/w/0" })).toBe(true);
});

test("a webhook that is gone or has changed is forgotten", () => {
  const { changes, breaker, timeOut } = setUp();
  timeOut(timeoutsMax);
  breaker.keepOnly([webhook]);
  expect([breaker.admits(webhook), changes]).toEqual([false, ["open"]]);
  breaker.keepOnly([{ ...webhook, revisionKey: "u/2/w/0" }]);
  expect([breaker.admits(webhook), changes]).toEqual([true, ["open", "forgotten"]]);
});

test("calls that outlive their webhook do not count", () => {
  const { changes, breaker, timeOut } = setUp();
  breaker.keepOnly([{ ...webhook, revisionKey: "u/2/w/0" }]);
  timeOut(timeoutsMax);
  expect([breaker.admits(webhook), changes]).toEqual([true, []]);
});

test("as many open circuits are reported as are known", () => {
  const { changes, timeOut } = setUp();
  for (let at = 0; at <= circuitsMax; at++) timeOut(timeoutsMax, { ...webhook, revisionKey: `u/${at}/w/0` });
  const count = (state: string) => changes.filter((one) => one === state).length;
  expect([count("open"), count("forgotten")]).toEqual([circuitsMax + 1, 1]);
});
