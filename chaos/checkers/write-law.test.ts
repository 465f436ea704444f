import { expect, test } from "bun:test";
import type { Operation } from "../history/operation.ts";
import { create, object, ok, operation, record, story, unknown } from "../testing/histories.ts";
import { Chronicle } from "./chronicle.ts";
import { writeLaw } from "./write-law.ts";

const told: readonly Operation[] = [
  create("x", "r1", ok("x", "r1", 11), [0, 1]),
  operation("x", { verb: "update", value: "g2", color: "g", expected: 11 }, ok("x", "g2", 12), [2, 3]),
  create("y", "r3", unknown, [3, 4]),
  operation("x", { verb: "delete", expected: 12 }, { kind: "ok", object: undefined }, [5, 6]),
];

const judge = (operations: readonly Operation[], records = [story]) => writeLaw(operations, new Chronicle(records));

test("a history that matches the answers is accepted", () => expect(judge(told)).toEqual([]));

test("a write of unknown outcome may be missing", () => {
  expect(judge([...told, create("z", "b4", unknown, [7, 8])])).toEqual([]);
});

test.each<[what: string, operations: readonly Operation[], detail: string]>([
  ["an acknowledged write is lost", [...told, create("z", "b4", ok("z", "b4", 15), [7, 8])], "is lost"],
  ["an answer names another revision", told.with(0, create("x", "r1", ok("x", "r1", 10), [0, 1])), "is at 11"],
  ["a refused write happened", told.with(2, create("y", "r3", { kind: "refused", why: "429" }, [3, 4])), "was refused"],
  ["a write comes from nowhere", told.slice(0, 2), "r3 at 13 was written by nobody"],
])("%s", (_, operations, detail) => {
  const violations = judge(operations);
  expect(violations).toHaveLength(1);
  expect(violations[0]?.detail).toContain(detail);
});

test("a later write gets a later revision", () => {
  const swapped = [told[0]!, { ...told[1]!, invokedMs: -3, returnedMs: -2 }, ...told.slice(2)];
  expect(judge(swapped).map(({ law }) => law)).toEqual(["revisions go up"]);
});

test("concurrent writes get their revisions in any order", () => {
  const together = told.with(1, { ...told[1]!, invokedMs: 0.5, returnedMs: 0.9 });
  expect(judge(together)).toEqual([]);
});

test("a write that is applied twice is found", () => {
  const twice = record(10, 16, [
    ["ADDED", "x", "r1", 11],
    ["MODIFIED", "x", "g2", 12],
    ["MODIFIED", "x", "r1", 15],
  ]);
  const operations = [told[0]!, told[1]!];
  expect(judge(operations, [twice]).map(({ law }) => law)).toEqual(["applied once"]);
});

test("a deleted uid does not return, and stays with its object", () => {
  const back = record(10, 15, [
    ["ADDED", "x", "r1", 11],
    ["DELETED", "x", "r1", 12],
    ["ADDED", "x", "g2", 13],
  ]);
  expect(judge([told[0]!, { ...told[1]!, outcome: unknown }], [back]).map(({ law }) => law)).toEqual(["uid"]);
  const changed = record(10, 12, [["ADDED", "x", "r1", 11]]);
  changed.events.push({ type: "MODIFIED", object: object("x", "g2", 12, "another"), seenMs: 12 });
  expect(judge(told.slice(0, 2), [changed])[0]?.detail).toContain("changed from uid-x to another");
});
