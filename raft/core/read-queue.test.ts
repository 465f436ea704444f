import { expect, test } from "bun:test";
import type { Index, MemberId, RequestId } from "./ids.ts";
import { ReadQueue } from "./read-queue.ts";

const reader = (id: number) => ({ member: 1 as MemberId, id: id as RequestId });
const at = (index: number) => index as Index;

test("a read joins the next round rather than the current one, and its index is fixed when that round begins", () => {
  const reads = new ReadQueue();
  reads.add(reader(1));
  reads.beginRound(at(5));
  reads.add(reader(2));
  expect(reads.wantsRound).toBe(false);
  expect(reads.confirm(1)).toEqual([expect.objectContaining({ index: at(5), readers: [reader(1)] })]);
  expect(reads.wantsRound).toBe(true);
  reads.beginRound(at(7));
  expect(reads.confirm(1)).toEqual([]);
  expect(reads.confirm(2)).toEqual([expect.objectContaining({ index: at(7), readers: [reader(2)] })]);
});

test("an answer to a later round confirms the earlier ones", () => {
  const reads = new ReadQueue();
  for (const id of [1, 2, 3]) {
    reads.add(reader(id));
    reads.beginRound(at(id));
  }
  expect(reads.confirm(2).map(({ index }) => index)).toEqual([at(1), at(2)]);
  expect(reads.size).toBe(1);
});

test("while the leader does not know the commit index, rounds pass and reads wait", () => {
  const reads = new ReadQueue();
  reads.add(reader(1));
  expect(reads.beginRound(undefined)).toBe(1);
  expect(reads.confirm(1)).toEqual([]);
  expect(reads.size).toBe(1);
});

test("draining returns every unconfirmed read once", () => {
  const reads = new ReadQueue();
  reads.add(reader(1));
  reads.beginRound(at(1));
  reads.add(reader(2));
  expect(reads.drain()).toEqual([reader(1), reader(2)]);
  expect([reads.size, reads.drain().length]).toEqual([0, 0]);
});
