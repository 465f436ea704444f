import { expect, test } from "bun:test";
import { expandReferences } from "./expand-references.ts";

const values = new Map([
  ["A", "1"],
  ["B", "two words"],
  ["EMPTY", ""],
  ["a(b", "odd"],
]);

// Rows of upstream's table, and some more.
test.each([
  ["$(A)", "1"],
  ["___$(A)___$(B)", "___1___two words"],
  ["$(EMPTY)", ""],
  ["$(NONE)", "$(NONE)"],
  ["$$(A)", "$(A)"],
  ["$$$(A)", "$1"],
  ["$$$$(A)", "$$(A)"],
  ["$A", "$A"],
  ["$", "$"],
  ["end$", "end$"],
  ["$$", "$"],
  ["$(", "$("],
  ["$(A", "$(A"],
  ["$($(A)", "$($(A)"],
  ["$(a(b)", "odd"],
  ["$()", "$()"],
  ["\n$(A)é", "\n1é"],
  ["$é$(A)", "$é1"],
])("expandReferences() makes %j into %j", (text, expanded) => {
  expect(expandReferences(text, (name) => values.get(name))).toBe(expanded);
});
