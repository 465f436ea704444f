import { expect, test } from "bun:test";
import { StoreUnavailableError } from "./store.ts";
import { untilAvailable } from "./until-available.ts";

test("an operation without a quorum is repeated until it has one", async () => {
  let attempts = 0;
  const done = untilAvailable({ failure: undefined }, async () => {
    if (++attempts < 3) throw new StoreUnavailableError("no quorum", attempts === 1 ? "unknown" : "notDone");
    return "done";
  });
  expect(await done).toBe("done");
});

test("a failed store or any other error ends the repetition", async () => {
  const failure = new StoreUnavailableError("the disk");
  await expect(untilAvailable({ failure }, () => Promise.reject(failure))).rejects.toBe(failure);
  const other = new Error("a bug");
  await expect(untilAvailable({ failure: undefined }, () => Promise.reject(other))).rejects.toBe(other);
});
