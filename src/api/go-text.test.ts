import { expect, test } from "bun:test";
import { quoteText } from "./go-literal.ts";
import { goInterfaceType } from "./go-text.ts";

test("quoteText() escapes what Go's %q escapes", () => {
  expect(quoteText("plain text")).toBe('"plain text"');
  expect(quoteText('a "b"\\\n\t\u0007\u0001é\u00a0\u{1f600}\u{e0001}')).toBe(
    '"a \\"b\\"\\\\\\n\\t\\a\\x01é\\u00a0\u{1f600}\\U000e0001"',
  );
});

test("goInterfaceType() names the Go type of a value in an untyped document", () => {
  expect([1, 1.5, 2n ** 60n, "a", true, null, [], {}].map(goInterfaceType)).toEqual([
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
