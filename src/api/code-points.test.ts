import { expect, test } from "bun:test";
import { exceedsBytes } from "./code-points.ts";

test("texts are measured in bytes of UTF-8", () => {
  expect(exceedsBytes("abc", 3)).toBe(false);
  expect(exceedsBytes("abcd", 3)).toBe(true);
  expect(exceedsBytes("ää", 4)).toBe(false);
  expect(exceedsBytes("ää", 3)).toBe(true);
  expect(exceedsBytes("€", 2)).toBe(true);
  expect(exceedsBytes("😀", 4)).toBe(false);
});
