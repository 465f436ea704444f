import { expect, test } from "bun:test";
import { InFlight } from "./in-flight.ts";

function recorded(promise: Promise<void>): { isOver: boolean } {
  const state = { isOver: false };
  void promise.then(() => (state.isOver = true));
  return state;
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("work that is running is waited for; work that begins later is not", async () => {
  const inFlight = new InFlight();
  const [first, second, third] = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const running = [inFlight.run(() => first!.promise), inFlight.run(() => second!.promise)];
  const early = recorded(inFlight.ended());
  running.push(inFlight.run(() => third!.promise));
  const late = recorded(inFlight.ended());
  first!.resolve();
  await turn();
  expect([early.isOver, late.isOver]).toEqual([false, false]);
  third!.resolve();
  await turn();
  expect([early.isOver, late.isOver]).toEqual([false, false]);
  second!.resolve();
  await turn();
  expect([early.isOver, late.isOver]).toEqual([true, true]);
  await Promise.all(running);
});

test("failed work has ended too, and keeps its error", async () => {
  const inFlight = new InFlight();
  const failing = inFlight.run(() => Promise.reject(new Error("no")));
  const ended = inFlight.ended();
  await expect(failing).rejects.toThrow("no");
  await ended;
});

test("nothing is waited for where nothing runs", async () => {
  const inFlight = new InFlight();
  await inFlight.run(async () => {});
  await inFlight.ended();
});

test("nothing begins while it is held, and nothing that waits for that is counted", async () => {
  const inFlight = new InFlight();
  const opening = Promise.withResolvers<void>();
  inFlight.holdUntil(opening.promise);
  let began = 0;
  const running = inFlight.run(async () => began++);
  await inFlight.ended();
  await turn();
  expect(began).toBe(0);
  opening.resolve();
  await running;
  await inFlight.run(async () => began++);
  expect(began).toBe(2);
});

test("a value held for good fails as its opening does", async () => {
  const inFlight = new InFlight();
  inFlight.holdUntil(Promise.reject(new Error("closed")));
  await expect(inFlight.run(async () => 1)).rejects.toThrow("closed");
});
