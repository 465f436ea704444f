import { expect, test } from "bun:test";
import { StoreUnavailableError } from "./store.ts";
import { untilAvailable } from "./until-available.ts";

test("what had no quorum is done again until it has one", async () => {
  let attempts = 0;
  const done = untilAvailable({ failure: undefined }, async () => {
    if (++attempts < 3) throw new StoreUnavailableError("no quorum", attempts === 1 ? "unknown" : "notDone");
    return "done";
  });
  expect(await done).toBe("done");
});

test("a store that has failed, and any other error, end it", async () => {
  const failure = new StoreUnavailableError("the disk");
  await expect(untilAvailable({ failure }, () => Promise.reject(failure))).rejects.toBe(failure);
  const other = new Error("a bug");
  await expect(untilAvailable({ failure: undefined }, () => Promise.reject(other))).rejects.toBe(other);
});
