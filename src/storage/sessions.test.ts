import { expect, test } from "bun:test";
import { type BatchId, Sessions } from "./sessions.ts";

const batch = (sequence: number, floor = 1, basis = 0, origin = "a"): BatchId => ({ origin, sequence, floor, basis });

test("a batch is admitted once, in whatever order batches come", () => {
  const sessions = new Sessions();
  const order = [3, 1, 3, 2, 1, 2, 5, 4, 5];
  expect(order.map((sequence, at) => sessions.admit(batch(sequence), at + 1))).toEqual([
    true,
    true,
    false,
    true,
    false,
    false,
    true,
    true,
    false,
  ]);
  expect(sessions.records()).toEqual([["a", 6, [], 9]]);
});

test("a late batch that its proposer has given up is rejected", () => {
  const sessions = new Sessions();
  expect(sessions.admit(batch(7, 6), 1)).toBe(true);
  expect(sessions.admit(batch(5, 2), 2)).toBe(false);
  expect(sessions.admit(batch(6, 6), 3)).toBe(true);
});

test("proposers are independent of each other", () => {
  const sessions = new Sessions();
  expect(sessions.admit(batch(1), 1)).toBe(true);
  expect(sessions.admit(batch(1, 1, 0, "b"), 2)).toBe(true);
});

test("a proposer continues where it was after a restart", () => {
  const first = new Sessions();
  for (const sequence of [1, 2, 5]) first.admit(batch(sequence), sequence);
  const second = new Sessions(first.records());
  expect([1, 2, 3, 5].map((sequence) => second.admit(batch(sequence), 9))).toEqual([false, false, true, false]);
});

test("a proposer that was silent for a million entries is forgotten, and its old batches are rejected", () => {
  const sessions = new Sessions();
  sessions.admit(batch(1), 1);
  expect(sessions.admit(batch(1, 1, 1_500_000, "b"), 1_500_001)).toBe(true);
  expect(sessions.records().map(([origin]) => origin)).toEqual(["b"]);
  expect(sessions.admit(batch(1), 1_500_002)).toBe(false);
});
