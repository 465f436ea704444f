import { expect, test } from "bun:test";
import { unifiedDiff } from "./unified-diff.ts";

const lines = (...all: string[]) => all.join("\n");
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}`);

test("equal texts have no difference", () => {
  expect(unifiedDiff("a\nb", "a\nb")).toBe("");
});

test.each([
  ["a changed line", lines("a", "b", "c"), lines("a", "x", "c"), "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n"],
  ["the only line", "a", "b", "@@ -1 +1 @@\n-a\n+b\n"],
  ["an added line", lines("a", "b"), lines("a", "x", "b"), "@@ -1,2 +1,3 @@\n a\n+x\n b\n"],
  ["a line that is gone", lines("a", "x", "b"), lines("a", "b"), "@@ -1,3 +1,2 @@\n a\n-x\n b\n"],
])("shows %s", (_, old, fresh, diff) => {
  expect(unifiedDiff(old, fresh)).toBe(diff);
});

test("shows three lines around each change, and distant changes by themselves", () => {
  const fresh = numbered(30).map((line, at) => (at === 5 || at === 20 ? "changed" : line));
  const hunk = (at: number) => {
    const around = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => ` line ${from + i}\n`);
    const changed = [`-line ${at}\n`, "+changed\n"];
    return `@@ -${at - 2},7 +${at - 2},7 @@\n${[...around(at - 3, at), ...changed, ...around(at + 1, at + 4)].join("")}`;
  };
  expect(unifiedDiff(lines(...numbered(30)), lines(...fresh))).toBe(hunk(5) + hunk(20));
});

test("texts that are made to take long are compared in bounded time", () => {
  const repeated = Array.from({ length: 20_000 }, (_, at) => `${at % 150}`);
  const diff = unifiedDiff(lines(...repeated), lines(...repeated.toReversed()));
  expect(diff).toStartWith("@@ ");
});
