import { expect, test } from "bun:test";
import { goSyntax, goTypeName, quoteGo } from "./go-quote.ts";

test("texts are quoted as Go quotes them", () => {
  expect(quoteGo('a "b"\\\n\t\u0007\u0001é\u00a0\u{1f600}\u{e0001}')).toBe(
    '"a \\"b\\"\\\\\\n\\t\\a\\x01é\\u00a0\u{1f600}\\U000e0001"',
  );
});

test("values are printed in Go's syntax, under the names of Go's types", () => {
  expect(goSyntax({ b: [1.5, null], a: true })).toBe(
    'map[string]interface {}{"a":true, "b":[]interface {}{1.5, interface {}(nil)}}',
  );
  expect([1, 1.5, 2n ** 60n, "a", true, null, [], {}].map(goTypeName)).toEqual([
    "int64",
    "float64",
    "int64",
    "string",
    "bool",
    "<nil>",
    "[]interface {}",
    "map[string]interface {}",
  ]);
});
