import { describe, expect, test } from "bun:test";
import type { WatchRecord } from "../history/watch-record.ts";
import { record, story } from "../testing/histories.ts";
import { Chronicle } from "./chronicle.ts";
import { watchLaw } from "./watch-law.ts";

const judge = (one: WatchRecord) => watchLaw([one], new Chronicle([story]));

describe("right", () => {
  test.each<[what: string, one: WatchRecord]>([
    ["the whole story", story],
    ["nothing", record(14, 14, [])],
    ["a part, from another replica's revision", record(12, 13, [["ADDED", "y", "r3", 13]])],
    ["what a bookmark says is over", record(11, 12, [["MODIFIED", "x", "g2", 12]])],
    [
      "a filter that an object comes into and leaves",
      record(
        10,
        14,
        [
          ["ADDED", "x", "g2", 12],
          ["DELETED", "x", "g2", 14],
        ],
        { color: "g" },
      ),
    ],
    [
      "an object that leaves a filter goes as it was",
      record(
        10,
        14,
        [
          ["ADDED", "x", "r1", 11],
          ["DELETED", "x", "r1", 12],
          ["ADDED", "y", "r3", 13],
        ],
        { color: "r" },
      ),
    ],
    ["a filter that nothing passes", record(10, 14, [], { color: "b" })],
  ])("%s", (_, one) => expect(judge(one)).toEqual([]));
});

describe("wrong", () => {
  test.each<[what: string, one: WatchRecord, problem: string]>([
    [
      "a gap",
      record(10, 13, [
        ["ADDED", "x", "r1", 11],
        ["ADDED", "y", "r3", 13],
      ]),
      "event 1 should be MODIFIED x=g2",
    ],
    ["a gap at the end", record(11, 13, [["MODIFIED", "x", "g2", 12]]), "event 1 should be ADDED y=r3"],
    [
      "a repetition",
      record(12, 13, [
        ["ADDED", "y", "r3", 13],
        ["ADDED", "y", "r3", 13],
      ]),
      "event 1 should be none and is ADDED y=r3",
    ],
    [
      "another order",
      record(11, 13, [
        ["ADDED", "y", "r3", 13],
        ["MODIFIED", "x", "g2", 12],
      ]),
      "event 0 should be MODIFIED x=g2",
    ],
    [
      "what was before the start",
      record(11, 12, [
        ["ADDED", "x", "r1", 11],
        ["MODIFIED", "x", "g2", 12],
      ]),
      "event 0",
    ],
    ["another type", record(11, 12, [["ADDED", "x", "g2", 12]]), "should be MODIFIED x=g2"],
    ["another value", record(11, 12, [["MODIFIED", "x", "g9", 12]]), "is MODIFIED x=g9"],
    ["a deletion with another last state", record(13, 14, [["DELETED", "x", "r1", 14]]), "should be DELETED x=g2"],
    ["what does not pass the filter", record(12, 13, [["ADDED", "y", "r3", 13]], { color: "g" }), "should be none"],
    ["beyond what is known", record(13, 20, [["DELETED", "x", "g2", 14]]), "undecided"],
  ])("%s", (_, one, problem) => {
    const violations = judge(one);
    expect(violations).toHaveLength(1);
    expect(violations[0]?.detail).toContain(problem);
  });
});

test("two watches that report one revision differently disagree", () => {
  const other = record(10, 11, [["ADDED", "x", "r9", 11]], { member: 2 });
  expect(new Chronicle([story, other]).disagreements).toHaveLength(1);
  expect(new Chronicle([story, record(10, 12, story.events.slice(0, 2).map(textOf))]).disagreements).toEqual([]);
});

test("consecutive watches together cover an interval", () => {
  const first = record(10, 12, story.events.slice(0, 2).map(textOf));
  const second = record(12, 14, story.events.slice(2).map(textOf));
  expect(new Chronicle([first, second]).covers(10, 14)).toBe(true);
  expect(new Chronicle([first]).covers(10, 14)).toBe(false);
  expect(watchLaw([story], new Chronicle([first, second]))).toEqual([]);
});

function textOf({ type, object: { key, value, revision } }: WatchRecord["events"][number]) {
  return [type, key, value, revision] as const;
}
