import { expect, test } from "bun:test";
import { encodeConfEntry } from "./conf-entry.ts";
import type { Entry, EntryKind } from "./entry.ts";
import { entryBytes } from "./entry.ts";
import type { Index, MemberId, Term } from "./ids.ts";
import { RaftLog } from "./log.ts";
import { membershipOf } from "./membership.ts";

const index = (value: number) => value as Index;
const term = (value: number) => value as Term;
const ids = (...members: number[]) => members as MemberId[];
const three = membershipOf(ids(1, 2, 3));
const four = membershipOf(ids(1, 2, 3, 4));
const five = membershipOf(ids(1, 2, 3, 4, 5));

function entry(at: number, inTerm: number, kind: EntryKind = "normal", data: Uint8Array = new Uint8Array(3)): Entry {
  return { index: index(at), term: term(inTerm), kind, data };
}

function change(at: number, inTerm: number, membership: typeof three): Entry {
  return entry(at, inTerm, "confChange", encodeConfEntry({ membership, context: new Uint8Array() }));
}

/** Returns a log whose entries from `base` + 1 on have these terms. */
function logOf(base: number, baseTerm: number, terms: readonly number[], commit = base): RaftLog {
  const entries = terms.map((inTerm, at) => entry(base + 1 + at, inTerm));
  return new RaftLog({ index: index(base), term: term(baseTerm), membership: three }, entries, index(commit));
}

test("a term is known from the base to the last entry", () => {
  const log = logOf(4, 2, [2, 3]);
  expect([3, 4, 5, 6, 7].map((at) => log.termAt(index(at)))).toEqual([undefined, 2, 2, 3, undefined] as never);
  expect([log.lastIndex, log.lastTerm, log.commit]).toEqual([6, 3, 4] as never);
});

test("a slice has at least one entry and as many as fit", () => {
  const log = logOf(0, 0, [1, 1, 1, 1]);
  const size = entryBytes(entry(1, 1));
  expect(log.slice(index(1), index(4), 1).length).toBe(1);
  expect(log.slice(index(1), index(4), 2 * size).length).toBe(2);
  expect(log.slice(index(2), index(3), 100 * size).map((slot) => slot.index)).toEqual([2, 3] as never);
  expect(log.slice(index(5), index(9), 100)).toEqual([]);
  expect(() => logOf(4, 1, [1]).slice(index(4), index(5), 1)).toThrow("compacted");
});

test.each([
  [7, 3, true],
  [6, 3, true],
  [5, 3, false],
  [9, 2, false],
  [1, 4, true],
])("a log that ends at %d of term %d is at least as new as 6 of 3: %p", (lastIndex, lastTerm, isNewer) => {
  expect(logOf(0, 0, [1, 1, 2, 2, 3, 3]).isAtMost(index(lastIndex), term(lastTerm))).toBe(isNewer);
});

test.each([
  [6, 3, 6, 3],
  [6, 2, 4, 2],
  [9, 9, 6, 3],
  [3, 1, 2, 1],
  [6, 0, 0, 0],
])("looking for %d of term %d, it may agree at %d of term %d", (at, inTerm, agreedIndex, agreedTerm) => {
  const agreed = logOf(0, 0, [1, 1, 2, 2, 3, 3]).lastAgreeing({ index: index(at), term: term(inTerm) });
  expect([agreed.index, agreed.term]).toEqual([agreedIndex, agreedTerm] as never);
});

test("committed entries are never replaced, and the log has no gaps", () => {
  const log = logOf(0, 0, [1, 1, 1], 2);
  expect(() => log.append([entry(2, 2)])).toThrow("replace a committed one");
  expect(() => log.append([entry(5, 2)])).toThrow("gap");
  expect(() => log.append([entry(4, 1), entry(6, 1)])).toThrow("gap");
  expect(() => log.append([entry(4, 0)])).toThrow("earlier term");
  log.append([entry(3, 2), entry(4, 2)]);
  expect([log.lastIndex, log.lastTerm]).toEqual([4, 2] as never);
});

test("commit moves neither back nor beyond the end", () => {
  const log = logOf(0, 0, [1, 1, 1], 2);
  log.commitTo(index(1));
  expect(log.commit).toBe(index(2));
  expect(() => log.commitTo(index(4))).toThrow("the log lost it");
});

test("bytes are those of the entries held", () => {
  const log = logOf(0, 0, [1, 1, 1, 1], 2);
  const size = entryBytes(entry(1, 1));
  expect(log.bytes).toBe(4 * size);
  log.append([entry(3, 2)]);
  expect(log.bytes).toBe(3 * size);
  log.compact(index(2));
  expect(log.bytes).toBe(size);
});

test("the membership in force is the newest in the log, and an earlier one returns when its entry is replaced", () => {
  const log = logOf(0, 0, [1], 1);
  log.append([change(2, 1, four), entry(3, 1), change(4, 1, five)]);
  expect([log.membership, log.membershipIndex, log.membershipBefore]).toEqual([five, 4, four] as never);
  log.append([entry(4, 2)]);
  expect([log.membership, log.membershipIndex, log.membershipBefore]).toEqual([four, 2, three] as never);
  log.append([entry(2, 3)]);
  expect([log.membership, log.membershipIndex]).toEqual([three, 0] as never);
});

test("a snapshot has the membership of its index, and a compacted log remembers it", () => {
  const log = logOf(0, 0, [1], 1);
  log.append([change(2, 1, four), entry(3, 1), change(4, 1, five)]);
  log.commitTo(index(4));
  expect([1, 2, 3, 4].map((at) => log.describe(index(at)).membership)).toEqual([three, four, four, five]);
  log.compact(index(3));
  expect([log.base, log.membership, log.membershipBefore]).toEqual([log.describe(index(3)), five, four]);
  expect(() => log.describe(index(2))).toThrow("no snapshot");
  expect(() => log.describe(index(5))).toThrow("no snapshot");
});

test("a log begins again after a snapshot", () => {
  const log = logOf(0, 0, [1, 1, 1], 1);
  log.restore({ index: index(9), term: term(4), membership: four });
  expect([log.lastIndex, log.lastTerm, log.commit, log.bytes, log.membership]).toEqual([9, 4, 9, 0, four] as never);
  expect(() => log.restore({ index: index(9), term: term(4), membership: four })).toThrow("older");
});
