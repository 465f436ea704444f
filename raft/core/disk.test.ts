import { expect, test } from "bun:test";
import { Disk } from "./disk.ts";
import type { Index, MemberId, Term } from "./ids.ts";
import { membershipOf } from "./membership.ts";

const index = (value: number) => value as Index;
const term = (value: number) => value as Term;
const hardState = (inTerm: number, vote = 0) => ({ term: term(inTerm), vote: vote as MemberId, commit: index(0) });

function handOut(disk: Disk, inTerm: number, last: number, vote = 0) {
  const mark = disk.nextMark(term(inTerm), index(last));
  disk.handOut(mark, hardState(inTerm, vote));
  return mark;
}

test("an index is durable when its write is", () => {
  const disk = new Disk(hardState(1), index(3));
  const mark = handOut(disk, 1, 5);
  expect([disk.handed, disk.durable]).toEqual([index(5), index(3)]);
  disk.persisted(mark);
  expect(disk.durable).toBe(index(5));
});

test("the last of several writes confirms all of them", () => {
  const disk = new Disk(hardState(1), index(0));
  handOut(disk, 1, 2);
  const last = handOut(disk, 2, 4, 7);
  expect(disk.isDurable(term(2), 7 as MemberId)).toBe(false);
  disk.persisted(last);
  expect([disk.durable, disk.isDurable(term(2), 7 as MemberId)]).toEqual([index(4), true]);
});

test("a write does not confirm entries that were replaced after it, even if the same ones come back", () => {
  const disk = new Disk(hardState(1), index(0));
  const first = handOut(disk, 1, 5);
  disk.cutFrom(index(4));
  const second = handOut(disk, 2, 4);
  disk.cutFrom(index(4));
  const third = handOut(disk, 1, 5);
  disk.persisted(first);
  expect(disk.durable).toBe(index(3));
  disk.persisted(second);
  expect(disk.durable).toBe(index(3));
  disk.persisted(third);
  expect(disk.durable).toBe(index(5));
});

test("the log is not durable between a snapshot's arrival and its installation", () => {
  const disk = new Disk(hardState(1), index(9));
  const snapshot = { index: index(20), term: term(1), membership: membershipOf([1 as MemberId]) };
  disk.replaceBy(snapshot);
  expect([disk.handed, disk.durable]).toEqual([index(20), index(0)]);
  const mark = handOut(disk, 1, 20);
  expect(disk.persisted(mark)).toEqual(snapshot);
  expect(disk.durable).toBe(index(20));
});

test("a write that was never handed out, or has another mark, is rejected", () => {
  const disk = new Disk(hardState(1), index(0));
  const mark = handOut(disk, 1, 2);
  expect(() => disk.persisted({ ...mark, sequence: 2 })).toThrow("never handed out");
  expect(() => disk.persisted({ ...mark, index: index(3) })).toThrow("with another mark");
});
