import { expect, test } from "bun:test";
import { parseResourceVersion, resourceVersionProblem } from "./resource-version.ts";

test.each([
  ["0", 0],
  ["00", 0],
  ["7", 7],
  [`${"0".repeat(40)}7`, 7],
  ["9007199254740993", Number.MAX_SAFE_INTEGER],
  ["9223372036854775808", Number.MAX_SAFE_INTEGER],
  ["18446744073709551616", undefined],
  ["", undefined],
  ["-1", undefined],
  ["+1", undefined],
  ["1x", undefined],
  ["1.0", undefined],
])("the resourceVersion %p is %p", (text, version) => {
  expect(parseResourceVersion(text)).toBe(version);
});

test.each([
  ["18446744073709551616", "value out of range"],
  ["99999999999999999999999x", "value out of range"],
  ["000000000000000000000001x", "invalid syntax"],
  ["-0", "invalid syntax"],
])("%p is refused: %s", (text, why) => {
  expect(resourceVersionProblem(text)).toBe(
    `resourceVersion: Invalid value: "${text}": strconv.ParseUint: parsing "${text}": ${why}`,
  );
});
