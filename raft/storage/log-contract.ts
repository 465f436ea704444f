import { expect, test } from "bun:test";
import type { Entry } from "../core/entry.ts";
import { toIndex, toMemberId, toTerm } from "../core/ids.ts";
import { membershipOf } from "../core/membership.ts";
import type { HardState } from "../core/ready.ts";
import type { SnapshotMeta } from "../core/snapshot.ts";
import type { Log } from "./log.ts";

export interface LogUnderTest {
  /** Creates a log with this base. */
  create(base: SnapshotMeta): Promise<Log>;
  /** Closes a log and reopens its files. */
  reopen(log: Log): Promise<Log>;
}

export const founders: SnapshotMeta = {
  index: toIndex(0),
  term: toTerm(0),
  membership: membershipOf([1, 2, 3].map(toMemberId)),
};

export function entry(index: number, term: number, bytes = 20): Entry {
  const data = new Uint8Array(bytes).fill(((index * 31 + term) % 255) + 1);
  return { index: toIndex(index), term: toTerm(term), kind: "normal", data };
}

export function entries(from: number, to: number, term: number, bytes?: number): Entry[] {
  return Array.from({ length: to - from + 1 }, (_, position) => entry(from + position, term, bytes));
}

export function hardState(term: number, vote: number, commit: number): HardState {
  return { term: toTerm(term), vote: vote as HardState["vote"], commit: toIndex(commit) };
}

export function baseAt(index: number, term: number): SnapshotMeta {
  const membership = { voters: [1, 2], outgoing: [2, 3], learners: [4], learnersNext: [3] };
  return {
    index: toIndex(index),
    term: toTerm(term),
    membership: {
      voters: membership.voters.map(toMemberId),
      outgoing: membership.outgoing.map(toMemberId),
      learners: membership.learners.map(toMemberId),
      learnersNext: membership.learnersNext.map(toMemberId),
    },
  };
}

/** Tests the behaviour that all logs share. */
export function logContract(name: string, open: () => LogUnderTest | Promise<LogUnderTest>): void {
  const withLog = (what: string, run: (log: Log, under: LogUnderTest) => Promise<Log>) =>
    test(`${name}: ${what}`, async () => {
      const under = await open();
      const last = await run(await under.create(founders), under);
      await last.close();
    });

  withLog("a new log holds its base and nothing else", async (log, under) => {
    const expected = { base: founders, hardState: hardState(0, 0, 0), entries: [] };
    expect(log.recovered).toEqual(expected);
    const again = await under.reopen(log);
    expect(again.recovered).toEqual(expected);
    return again;
  });

  withLog("entries and hard state are found again", async (log, under) => {
    await log.append({ hardState: hardState(3, 2, 0), entries: entries(1, 3, 1) });
    await log.append({
      entries: [
        { ...entry(4, 3), kind: "confChange" },
        { ...entry(5, 3, 0), kind: "empty" },
      ],
    });
    const again = await under.reopen(log);
    expect(again.recovered.hardState).toEqual(hardState(3, 2, 0));
    expect(again.recovered.entries).toEqual([
      ...entries(1, 3, 1),
      { ...entry(4, 3), kind: "confChange" },
      { ...entry(5, 3, 0), kind: "empty" },
    ]);
    return again;
  });

  withLog("a hard state alone is found again, the newest of several", async (log, under) => {
    await log.append({ hardState: hardState(1, 1, 0), entries: [] });
    await Promise.all([
      log.append({ hardState: hardState(2, 0, 0), entries: [] }),
      log.append({ hardState: hardState(2, 3, 0), entries: [] }),
    ]);
    const again = await under.reopen(log);
    expect(again.recovered.hardState).toEqual(hardState(2, 3, 0));
    return again;
  });

  withLog("terms, indexes and members beyond 32 bits are kept", async (log, under) => {
    const far = 2 ** 45;
    const snapshot = {
      ...founders,
      index: toIndex(far),
      term: toTerm(far + 1),
      membership: membershipOf([toMemberId(far)]),
    };
    await log.append({
      snapshot,
      hardState: hardState(far + 2, far, far),
      entries: entries(far + 1, far + 2, far + 2),
    });
    const again = await under.reopen(log);
    expect(again.recovered.base).toEqual(snapshot);
    expect(again.recovered.hardState).toEqual(hardState(far + 2, far, far));
    expect(again.recovered.entries).toEqual(entries(far + 1, far + 2, far + 2));
    return again;
  });

  withLog("an entry cuts what was there from its index on", async (log, under) => {
    await log.append({ entries: entries(1, 5, 1) });
    await log.append({ entries: entries(3, 4, 2) });
    const again = await under.reopen(log);
    expect(again.recovered.entries).toEqual([...entries(1, 2, 1), ...entries(3, 4, 2)]);
    await again.append({ entries: entries(1, 1, 3) });
    const third = await under.reopen(again);
    expect(third.recovered.entries).toEqual([entry(1, 3)]);
    return third;
  });

  withLog("writes that are not awaited are made in their order", async (log, under) => {
    const writes = entries(1, 200, 1).map((one) => log.append({ entries: [one] }));
    writes.push(log.append({ entries: entries(150, 151, 2) }));
    await Promise.all(writes);
    const again = await under.reopen(log);
    expect(again.recovered.entries).toEqual([...entries(1, 149, 1), ...entries(150, 151, 2)]);
    return again;
  });

  withLog("compaction forgets what comes before the base and nothing behind it", async (log, under) => {
    await log.append({ hardState: hardState(1, 1, 10), entries: entries(1, 20, 1) });
    await log.compact(baseAt(10, 1));
    await log.append({ entries: entries(21, 22, 1) });
    const again = await under.reopen(log);
    expect(again.recovered.base).toEqual(baseAt(10, 1));
    expect(again.recovered.hardState).toEqual(hardState(1, 1, 10));
    expect(again.recovered.entries).toEqual(entries(11, 22, 1));
    return again;
  });

  withLog("compaction of everything leaves a log that goes on", async (log, under) => {
    await log.append({ entries: entries(1, 20, 1) });
    await log.compact(baseAt(20, 1));
    const again = await under.reopen(log);
    expect(again.recovered.entries).toEqual([]);
    await again.append({ entries: entries(21, 21, 2) });
    const third = await under.reopen(again);
    expect(third.recovered.entries).toEqual(entries(21, 21, 2));
    return third;
  });

  withLog("a snapshot replaces the log, with what follows it in the same write", async (log, under) => {
    await log.append({ hardState: hardState(1, 1, 0), entries: entries(1, 8, 1) });
    await log.append({ snapshot: baseAt(6, 2), hardState: hardState(2, 0, 6), entries: entries(7, 7, 2) });
    const again = await under.reopen(log);
    expect(again.recovered.base).toEqual(baseAt(6, 2));
    expect(again.recovered.hardState).toEqual(hardState(2, 0, 6));
    expect(again.recovered.entries).toEqual(entries(7, 7, 2));
    return again;
  });

  withLog("two snapshots in a row leave the second", async (log, under) => {
    await log.append({ snapshot: baseAt(100, 2), entries: [] });
    await log.append({ snapshot: baseAt(200, 3), entries: [] });
    await log.append({ entries: entries(201, 203, 3) });
    const again = await under.reopen(log);
    expect(again.recovered.base).toEqual(baseAt(200, 3));
    expect(again.recovered.entries).toEqual(entries(201, 203, 3));
    return again;
  });

  withLog("a snapshot that is expected is found again, over compaction too", async (log, under) => {
    await log.append({ entries: entries(1, 3, 1) });
    await log.append({ expected: baseAt(50, 2), entries: [] });
    for (let from = 4; from < 3000; from += 100) await log.append({ entries: entries(from, from + 99, 1, 1000) });
    await log.compact(baseAt(2900, 1));
    const again = await under.reopen(log);
    expect(again.recovered.expected).toEqual(baseAt(50, 2));
    return again;
  });

  withLog("a long life of writes, cuts and compactions is found again each time", async (first, under) => {
    let log = first;
    let base = 0;
    let last = 0;
    for (let term = 1; term <= 60; term++) {
      const from = Math.max(base + 1, last - (term % 7));
      await log.append({ hardState: hardState(term, 1, base), entries: entries(from, from + 40, term, 700) });
      last = from + 40;
      if (term % 5 === 0) {
        base = last - 10;
        await log.compact(baseAt(base, term));
      }
      if (term % 9 !== 0) continue;
      log = await under.reopen(log);
      expect(log.recovered.base.index).toBe(toIndex(base));
      expect(log.recovered.hardState.term).toBe(toTerm(term));
      expect(log.recovered.entries.at(0)?.index).toBe(toIndex(base + 1));
      expect(log.recovered.entries.at(-1)).toEqual(entry(last, term, 700));
    }
    return log;
  });

  withLog("nothing is taken after it was closed", async (log, under) => {
    await log.append({ entries: entries(1, 1, 1) });
    await log.close();
    await expect(log.append({ entries: entries(2, 2, 1) })).rejects.toMatchObject({ code: "poisoned" });
    const again = await under.reopen(log);
    expect(again.recovered.entries).toEqual(entries(1, 1, 1));
    return again;
  });
}
