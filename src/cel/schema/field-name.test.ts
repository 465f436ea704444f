import { expect, test } from "bun:test";
import { escapeFieldName, unescapeFieldName } from "./field-name.ts";

test.each([
  ["name", "name"],
  ["a-b", "a__dash__b"],
  ["a.b/c", "a__dot__b__slash__c"],
  ["__x", "__underscores__x"],
  ["namespace", "__namespace__"],
])("%s is selected as %s", (name, escaped) => {
  expect(escapeFieldName(name)).toBe(escaped);
  expect(unescapeFieldName(escaped)).toBe(name);
});

test.each(["", "1a", "a b", "é"])("%p cannot be selected", (name) => {
  expect(escapeFieldName(name)).toBeUndefined();
});
