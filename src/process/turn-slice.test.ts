import { expect, test } from "bun:test";
import { TurnSlice } from "./turn-slice.ts";

test("work passes at once while its time lasts, and then in a later turn", async () => {
  const slice = new TurnSlice();
  const endMs = performance.now() + 10;
  while (performance.now() < endMs);
  let turns = 0;
  setImmediate(() => turns++);
  const passed = slice.pass();
  expect(passed).toBeInstanceOf(Promise);
  await passed;
  expect(turns).toBe(1);
});
