import { expect, test } from "bun:test";
import { goSyntax } from "./go-syntax.ts";

test("values are printed in Go's syntax", () => {
  expect(goSyntax({ b: [1.5, null], a: true })).toBe(
    'map[string]interface {}{"a":true, "b":[]interface {}{1.5, interface {}(nil)}}',
  );
});
