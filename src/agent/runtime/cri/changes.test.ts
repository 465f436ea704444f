import { expect, spyOn, test } from "bun:test";
import { type Clock, systemClock } from "../../../process/clock.ts";
import { Changes } from "./changes.ts";
import { CriClient } from "./cri-client.ts";

test("asks a runtime without events again and again, and leaves nothing behind when it stops", async () => {
  using client = new CriClient({ endpoint: "unix:///nowhere.sock", timeoutMs: 1_000 });
  const added: number[] = [];
  spyOn(client, "events").mockImplementation(async function* (signal) {
    added.push(spyOn(signal, "addEventListener").mock.calls.length);
    yield* [];
  });
  const waiting: (() => void)[] = [];
  const clock: Clock = {
    ...systemClock,
    every: () => ({ [Symbol.dispose]: () => {} }),
    after: (_delayMs, run) => {
      waiting.push(run);
      return { [Symbol.dispose]: () => waiting.splice(waiting.indexOf(run), 1) };
    },
  };
  const changes = new Changes({ client, clock, onError: () => {} });
  const subscription = changes.subscribe(() => {});
  for (let i = 0; i < 20; i++) {
    await Bun.sleep(0);
    waiting.shift()?.();
  }
  await Bun.sleep(0);
  expect(added).toEqual(Array.from({ length: 21 }, () => 0));
  expect(waiting).toHaveLength(1);
  subscription[Symbol.dispose]();
  expect(waiting).toEqual([]);
});
