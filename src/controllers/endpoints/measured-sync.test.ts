import { expect, test } from "bun:test";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { measuredSync } from "./measured-sync.ts";
import type { SliceSync } from "./slice-observer.ts";

const outcome = { added: 1, updated: 0, removed: 0, skipped: 0, changes: 1, trafficDistribution: "" };

test("a sync is measured whether or not it succeeds", async () => {
  const clock = new ManualClock();
  const seen: SliceSync[] = [];
  const observer = {
    changed() {},
    synced: (sync: SliceSync) => void seen.push(sync),
    observeTotals: () => clock.after(0, () => {}),
  };
  await measuredSync({ observer, clock }, async (compared) => {
    clock.advance(2_000);
    compared(outcome);
  });
  const failing = measuredSync({ observer, clock }, () => Promise.reject(new Error("refused")));
  expect(failing).rejects.toThrow("refused");
  await failing.catch(() => {});
  expect(seen).toEqual([
    { result: "success", seconds: 2, outcome },
    { result: "error", seconds: 0, outcome: undefined },
  ]);
});
