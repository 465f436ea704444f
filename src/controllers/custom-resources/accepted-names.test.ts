import { describe, expect, test } from "bun:test";
import { judgeNames } from "./accepted-names.ts";

const wanted = { plural: "apples", singular: "apple", kind: "Apple", listKind: "AppleList", shortNames: ["ap", "a"] };

const none = { plural: "", kind: "" };

describe("judgeNames()", () => {
  test("gives a definition all names that are free", () => {
    expect(judgeNames(wanted, none, [{ plural: "pears", kind: "Pear" }])).toEqual({
      names: wanted,
      conflict: undefined,
    });
  });

  test("gives the free names when others are taken, and reports the last conflict", () => {
    const { names, conflict } = judgeNames(wanted, none, [{ plural: "x", shortNames: ["apple"], kind: "Apple" }]);
    expect(names).toEqual({ plural: "apples", kind: "", listKind: "AppleList", shortNames: ["ap", "a"] });
    expect(conflict).toEqual({ reason: "KindConflict", message: '"Apple" is already in use' });
  });

  test("gives no short name when some are taken, and lists those", () => {
    const { names, conflict } = judgeNames(wanted, none, [{ plural: "ap", singular: "a", kind: "Other" }]);
    expect(names.shortNames).toBeUndefined();
    expect(conflict).toEqual({
      reason: "ShortNamesConflict",
      message: '["ap" is already in use, "a" is already in use]',
    });
  });

  test("lets a definition keep its names even if others have them too", () => {
    expect(judgeNames(wanted, wanted, [wanted]).conflict).toBeUndefined();
  });
});
