import { expect, test } from "bun:test";
import type { Entry } from "./core/entry.ts";
import { toIndex, toMemberId, toRequestId, toTerm } from "./core/ids.ts";
import { PendingEntries, PendingRequests, RecentResults } from "./pending.ts";
import { ProposalBatch } from "./proposal-batch.ts";
import { ReadRequests } from "./read-requests.ts";
import type { Waiter } from "./waiter.ts";

const waiter = <T>(deadlineMs = 100): Waiter<T> => ({ deadlineMs, resolve: () => {}, reject: () => {} });

function entry(index: number, term: number): Entry {
  return { index: toIndex(index), term: toTerm(term), kind: "normal", data: new Uint8Array() };
}

test("an entry answers its proposer, and rejects a waiter at its position that expects another entry", () => {
  const pending = new PendingEntries<string>();
  const [first, second] = [waiter<string>(), waiter<string>()];
  pending.add(toIndex(4), toTerm(2), first);
  pending.add(toIndex(5), toTerm(2), second);
  expect(pending.take(entry(3, 2))).toBeUndefined();
  expect(pending.take(entry(4, 2))).toEqual({ waiter: first, isIt: true });
  expect(pending.take(entry(5, 3))).toEqual({ waiter: second, isIt: false });
  expect(pending.size).toBe(0);
});

test.each([
  ["in the order of the terms", 2, 3],
  ["the later leader's answer first", 3, 2],
])("when a position is promised twice, %s, the later term's waiter keeps it", (_, one, two) => {
  const pending = new PendingEntries<string>();
  const waiters = new Map([one, two].map((term) => [term, waiter<string>()]));
  expect(pending.add(toIndex(4), toTerm(one), waiters.get(one) as Waiter<string>)).toBeUndefined();
  expect(pending.add(toIndex(4), toTerm(two), waiters.get(two) as Waiter<string>)).toBe(waiters.get(2));
  expect(pending.take(entry(4, 3))).toEqual({ waiter: waiters.get(3) as Waiter<string>, isIt: true });
});

test("deadlines also apply to positions that were promised again", () => {
  const pending = new PendingEntries<string>();
  const [early, late] = [waiter<string>(10), waiter<string>(50)];
  pending.add(toIndex(4), toTerm(2), early);
  pending.add(toIndex(5), toTerm(2), waiter(20));
  pending.add(toIndex(4), toTerm(3), late);
  expect(pending.takeExpired(9)).toEqual([]);
  expect(pending.takeExpired(20).length).toBe(1);
  expect(pending.takeExpired(50)).toEqual([late]);
});

test("a snapshot removes every waiter at or before its position", () => {
  const pending = new PendingEntries<string>();
  for (const index of [4, 5, 6]) pending.add(toIndex(index), toTerm(1), waiter());
  expect(pending.takeUpTo(toIndex(5)).length).toBe(2);
  expect(pending.size).toBe(1);
});

test("requests are answered once", () => {
  const pending = new PendingRequests<string>();
  const first = waiter<string>();
  pending.add(toRequestId(7), toMemberId(1), first);
  expect(pending.take(toRequestId(7))).toBe(first);
  expect(pending.take(toRequestId(7))).toBeUndefined();
});

test("requests to a member that is gone are separate from those to others", () => {
  const pending = new PendingRequests<string>();
  const [first, second, third] = [waiter<string>(), waiter<string>(), waiter<string>()];
  pending.add(toRequestId(1), toMemberId(1), first);
  pending.add(toRequestId(2), toMemberId(2), second);
  pending.add(toRequestId(3), toMemberId(1), third);
  expect(pending.takeOf(toMemberId(1))).toEqual([first, third]);
  expect(pending.takeAll()).toEqual([second]);
});

test("entries of an earlier term are given up when a later one is applied", () => {
  const pending = new PendingEntries<string>();
  const [early, late] = [waiter<string>(), waiter<string>()];
  pending.add(toIndex(9), toTerm(2), early);
  pending.add(toIndex(10), toTerm(3), late);
  expect(pending.takeBefore(toTerm(3))).toEqual([early]);
  expect(pending.takeAll()).toEqual([late]);
});

test("the newest four thousand passed results are kept", () => {
  const recent = new RecentResults<string>();
  for (let index = 1; index <= 5000; index++) recent.add(entry(index, 1), String(index));
  expect(recent.get(toIndex(5000))).toEqual({ term: toTerm(1), result: "5000" });
  expect(recent.get(toIndex(904))).toBeUndefined();
  expect(recent.get(toIndex(905))).toBeDefined();
});

test("reads are ready when they are confirmed and applied, and a late confirmation has no effect", () => {
  const reads = new ReadRequests();
  const [first, second, third] = [waiter(), waiter(), waiter(5)] as Waiter<never>[];
  for (const one of [first, second] as never[]) reads.add(one);
  reads.asked(toRequestId(1), reads.takeFresh());
  reads.add(third as never);
  reads.asked(toRequestId(2), reads.takeFresh());
  expect(reads.takeReady(toIndex(9))).toEqual([]);
  reads.confirmed(toRequestId(1), toIndex(8));
  expect(reads.takeReady(toIndex(7))).toEqual([]);
  expect(reads.takeReady(toIndex(8))).toEqual([first, second] as never);
  expect(reads.takeExpired(5)).toEqual([third] as never);
  reads.confirmed(toRequestId(2), toIndex(8));
  expect(reads.takeAll()).toEqual([]);
});

test("proposals wait briefly for others unless enough are waiting", () => {
  const batch = new ProposalBatch<string>();
  batch.add({ data: new Uint8Array(10), waiter: waiter() }, 100);
  expect(batch.waitMs(100)).toBe(1);
  expect(batch.waitMs(100.75)).toBe(0.25);
  expect(batch.waitMs(102)).toBe(0);
  batch.add({ data: new Uint8Array(1 << 20), waiter: waiter() }, 100);
  expect(batch.waitMs(100)).toBe(0);
  expect(batch.takeAll().length).toBe(2);
  expect(batch.size).toBe(0);
});
