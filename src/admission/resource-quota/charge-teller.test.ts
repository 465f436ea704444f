import { expect, test } from "bun:test";
import { type Clock, systemClock } from "../../process/clock.ts";
import { amountsOf } from "../pod-resources.ts";
import { ChargeTeller } from "./charge-teller.ts";
import type { SharedCharges } from "./shared-charges.ts";

test("a failed write is repeated until the server stops", async () => {
  const timers: (() => void)[] = [];
  const clock: Clock = { ...systemClock, after: (_, run) => (timers.push(run), { [Symbol.dispose]() {} }) };
  let attempts = 0;
  let isStopped = false;
  const tell = async () => {
    attempts++;
    throw new Error("the store is closed");
  };
  const teller = new ChargeTeller({
    namespace: "default",
    shared: { isNeeded: true, told: () => "", tell } as unknown as SharedCharges,
    clock,
    pending: () => new Map([["uid", amountsOf({ pods: "1" })]]),
    isCounting: () => false,
    isStopped: () => isStopped,
    onIdle() {},
  });
  const pass = async () => {
    for (const run of timers.splice(0)) run();
    await Bun.sleep(0);
  };
  teller.update();
  for (let turn = 0; turn < 4; turn++) await pass();
  expect(attempts).toBe(2);
  isStopped = true;
  for (let turn = 0; turn < 4; turn++) await pass();
  expect([attempts, timers.length]).toEqual([2, 0]);
});
