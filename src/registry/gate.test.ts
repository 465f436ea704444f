import { expect, test } from "bun:test";
import { Gate } from "./gate.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("nothing begins while it is held", async () => {
  const gate = new Gate();
  const opening = Promise.withResolvers<void>();
  gate.holdUntil(opening.promise);
  let began = 0;
  const running = gate.run(async () => began++);
  await turn();
  expect(began).toBe(0);
  opening.resolve();
  await running;
  await gate.run(async () => began++);
  expect(began).toBe(2);
});

test("work that is held for good fails as its opening does", async () => {
  const gate = new Gate();
  gate.holdUntil(Promise.reject(new Error("closed")));
  await expect(gate.run(async () => 1)).rejects.toThrow("closed");
});
