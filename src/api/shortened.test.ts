import { expect, test } from "bun:test";
import { quotedCharactersMax, shortened } from "./shortened.ts";

test("a long text keeps its beginning", () => {
  const fits = "x".repeat(quotedCharactersMax);
  expect(shortened(fits)).toBe(fits);
  expect(shortened(`${fits}y`)).toBe(`${fits}...`);
});
