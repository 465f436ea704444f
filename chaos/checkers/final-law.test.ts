import { expect, test } from "bun:test";
import type { FinalObject, FinalState } from "../history/history.ts";
import { create, object, ok, operation, record, story, unknown } from "../testing/histories.ts";
import { Chronicle } from "./chronicle.ts";
import { finalLaw, setLaw } from "./final-law.ts";

const chronicle = new Chronicle([story]);
const y3 = object("y", "r3", 13);
const final = (member: number, objects: readonly FinalObject[]): FinalState => ({ member, revision: 14, objects });
const holding = (elements: readonly string[]): FinalObject => ({ ...y3, elements });

test("every member and every informer holds the state that the history leads to", () => {
  const green = record(10, 14, [], { watcher: "green", color: "g" });
  const informers = [
    { watcher: "i", revision: 14, objects: [y3], lists: 1 },
    { watcher: "green", revision: 14, objects: [], lists: 1 },
  ];
  expect(finalLaw([final(1, [holding([])])], informers, [story, green], chronicle)).toEqual([]);
});

test("a member that lacks something and an informer that has too much are reported", () => {
  const informers = [{ watcher: "i", revision: 14, objects: [y3, object("x", "g2", 12)], lists: 1 }];
  const violations = finalLaw([final(1, [holding([])]), final(2, [])], informers, [story], chronicle);
  expect(violations.map(({ detail }) => detail)).toEqual([
    "member 2: y is missing, r3 at 13",
    "i: x should be absent, g2 at 12",
  ]);
});

test.each<[what: string, elements: readonly string[], problems: number]>([
  ["all that was acknowledged", ["a", "b"], 0],
  ["with one of unknown outcome", ["a", "u", "b"], 0],
  ["one is lost", ["a"], 1],
  ["one is there twice", ["a", "b", "a"], 1],
  ["one that was refused is there", ["a", "b", "no"], 1],
])("a set: %s", (_, elements, problems) => {
  const append = (value: string) => ({ verb: "update", value, color: "r", expected: 1 }) as const;
  const operations = [
    create("y", "a", ok("y", "a", 1), [0, 1]),
    operation("y", append("b"), ok("y", "b", 2), [2, 3]),
    operation("y", append("u"), unknown, [4, 5]),
    operation("y", append("no"), { kind: "conflict" }, [6, 7]),
  ];
  expect(setLaw([final(1, [holding(elements)])], operations)).toHaveLength(problems);
});
