import { expect, test } from "bun:test";
import { create, ok, operation, story, unknown } from "../testing/histories.ts";
import { Chronicle } from "./chronicle.ts";
import { narrow } from "./narrow.ts";

const chronicle = new Chronicle([story]);
const remove = (expected: number | undefined) => operation("x", { verb: "delete", expected }, unknown, [1, 2]);

test("a write that is not in the history never happened", () => {
  expect(narrow([create("z", "b9", unknown, [1, 2])], chronicle)).toEqual([]);
});

test("a write in the history had happened when a client first learned of it or of anything later", () => {
  const [write] = narrow([create("x", "r1", unknown, [1, 2])], chronicle);
  expect(write).toMatchObject({ outcome: ok("x", "r1", 11), returnedMs: 11 });
  const answered = create("y", "r3", ok("y", "r3", 13), [3, 4]);
  const [earlier] = narrow([create("x", "r1", unknown, [1, 2]), answered], chronicle);
  expect(earlier).toMatchObject({ returnedMs: 4 });
});

test("a deletion of a named revision happened where that revision was deleted, unless another client did it", () => {
  expect(narrow([remove(12)], chronicle)).toMatchObject([{ outcome: { kind: "ok" }, returnedMs: 14 }]);
  expect(narrow([remove(11)], chronicle)).toEqual([]);
  const other = operation("x", { verb: "delete", expected: 12 }, { kind: "ok", object: undefined }, [1, 2]);
  expect(narrow([remove(12), other], chronicle)).toEqual([other]);
});

test("a deletion that was known before it was requested was another one", () => {
  expect(narrow([{ ...remove(12), invokedMs: 20, returnedMs: 21 }], chronicle)).toEqual([]);
});

test("ambiguous operations stay open", () => {
  expect(narrow([remove(12), remove(12)], chronicle)).toEqual([remove(12), remove(12)]);
  expect(narrow([remove(12), remove(undefined)], chronicle)).toEqual([remove(12), remove(undefined)]);
  expect(narrow([remove(undefined)], chronicle)).toEqual([remove(undefined)]);
});
