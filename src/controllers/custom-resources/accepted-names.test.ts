import { describe, expect, test } from "bun:test";
import { judgeNames } from "./accepted-names.ts";

const wanted = { plural: "apples", singular: "apple", kind: "Apple", listKind: "AppleList", shortNames: ["ap", "a"] };

describe("judgeNames()", () => {
  test("gives a definition all names that are free", () => {
    expect(judgeNames(wanted, {}, [{ plural: "pears", kind: "Pear" }])).toEqual({ names: wanted, conflict: undefined });
  });

  test("gives the names that are free beside one that is taken, and reports the last conflict", () => {
    const { names, conflict } = judgeNames(wanted, {}, [{ plural: "x", shortNames: ["apple"], kind: "Apple" }]);
    expect(names).toEqual({ plural: "apples", listKind: "AppleList", shortNames: ["ap", "a"] });
    expect(conflict).toEqual({ reason: "KindConflict", message: '"Apple" is already in use' });
  });

  test("lists all short names that are taken, and takes none of them", () => {
    const { names, conflict } = judgeNames(wanted, {}, [{ plural: "ap", singular: "a" }]);
    expect(names["shortNames"]).toBeUndefined();
    expect(conflict).toEqual({
      reason: "ShortNamesConflict",
      message: '["ap" is already in use, "a" is already in use]',
    });
  });

  test("leaves a definition the names that it has, whoever else has them", () => {
    expect(judgeNames(wanted, wanted, [wanted]).conflict).toBeUndefined();
  });
});
