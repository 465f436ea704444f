import { expect, test } from "bun:test";
import { type Revision, toRevision, zeroRevision } from "../api/revision.ts";
import type { Clock } from "../process/clock.ts";
import { Retention } from "./retention.ts";

const retentionMs = 300_000;
const mayAct = () => true;

/** Returns a clock that moves only when a test moves it, and a store that counts. */
function bench() {
  let steadyMs = 1_000_000;
  let nowMs = 2_000_000;
  let tick: (() => void) | undefined;
  const clock: Clock = {
    nowMs: () => nowMs,
    steadyMs: () => steadyMs,
    after: () => ({ [Symbol.dispose]: () => {} }),
    every(_, run) {
      tick = run;
      return { [Symbol.dispose]: () => (tick = undefined) };
    },
  };
  const store = {
    revision: toRevision(1),
    compactedRevision: zeroRevision as Revision,
    failing: false,
    async compact(revision: Revision) {
      if (store.failing) throw new Error("disk");
      store.compactedRevision = revision;
    },
  };
  const advance = async (ms: number, revision: number): Promise<void> => {
    steadyMs += ms;
    nowMs += ms;
    store.revision = toRevision(revision);
    tick?.();
    await Promise.resolve();
  };
  const set = (byMs: number) => void (nowMs += byMs);
  return { clock, store, advance, set };
}

test("history is kept for the retention time and then compacted to the revision at its beginning", async () => {
  const { clock, store, advance } = bench();
  using _ = new Retention({ store, clock, retentionMs, mayAct }).start();
  const seen: number[] = [];
  for (let turn = 1; turn <= 8; turn++) {
    await advance(60_000, 1 + turn * 10);
    seen.push(store.compactedRevision);
  }
  expect(seen).toEqual([0, 0, 0, 0, 1, 11, 21, 31]);
});

test("a failed compaction is reported and retried later", async () => {
  const { clock, store, advance } = bench();
  const errors: unknown[] = [];
  using _ = new Retention({ store, clock, retentionMs, mayAct, onError: (error) => errors.push(error) }).start();
  store.failing = true;
  await advance(retentionMs, 10);
  await advance(60_000, 20);
  expect(errors.length).toBeGreaterThan(0);
  store.failing = false;
  await advance(retentionMs, 30);
  expect(store.compactedRevision).toBe(toRevision(20));
});

test.each([-3_600_000, 3_600_000])("system time that is set by %i ms changes nothing", async (byMs) => {
  const { clock, store, advance, set } = bench();
  using _ = new Retention({ store, clock, retentionMs, mayAct }).start();
  await advance(60_000, 10);
  set(byMs);
  await advance(retentionMs - 60_001, 20);
  expect(store.compactedRevision).toBe(zeroRevision);
  await advance(1, 30);
  expect(store.compactedRevision).toBe(toRevision(1));
});

test("nothing is compacted after disposal", async () => {
  const { clock, store, advance } = bench();
  new Retention({ store, clock, retentionMs, mayAct }).start()[Symbol.dispose]();
  await advance(retentionMs * 2, 10);
  expect(store.compactedRevision).toBe(zeroRevision);
});
