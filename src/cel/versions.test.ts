import { expect, test } from "bun:test";
import { CompileError, compile, newEnvironment, storedEnvironment } from "./index.ts";

function compiles(text: string, environment = storedEnvironment()): boolean {
  try {
    compile(text, environment);
    return true;
  } catch (error) {
    if (error instanceof CompileError) return false;
    throw error;
  }
}

test.each([
  ["url('/a').getScheme() == ''", 0],
  ["1 < 2.0", 28],
  ["{'a': 1}.?a.hasValue()", 28],
  ["quantity('1').isInteger()", 28],
  ["sets.contains([1], [1])", 29],
  ["'%d'.format([1]) == '1'", 29],
  ["ip('::1').isLoopback()", 30],
  ["format.uuid().validate('x').hasValue()", 31],
  ["[1].all(i, v, v > i)", 32],
  ["semver('v1', true).major() == 1", 33],
  ["[2, 1].sort() == [1, 2]", 34],
])("%s is new in 1.%i", (text, version) => {
  expect(compiles(text, newEnvironment(version))).toBe(true);
  expect(version === 0 || !compiles(text, newEnvironment(version - 1))).toBe(true);
  expect(compiles(text)).toBe(true);
});

test("a literal that cannot be read is refused since 1.29", () => {
  expect(compiles("duration('x') == duration('x')", newEnvironment(28))).toBe(true);
  expect(compiles("duration('x') == duration('x')", newEnvironment(29))).toBe(false);
});

test("elements of a literal have one type in every version", () => {
  expect(compiles("[1, 'a'].size() == 2", newEnvironment(1))).toBe(false);
});

test("a gate brings selectors of checks before their version", () => {
  const text = "'a'.fieldSelector('b') == 1";
  const messageOf = (environment = storedEnvironment()) => {
    try {
      compile(text, environment);
    } catch (error) {
      return (error as Error).message;
    }
    return "";
  };
  expect(messageOf(newEnvironment(30))).toContain("undeclared reference to 'fieldSelector'");
  expect(messageOf(newEnvironment(30, { AuthorizeWithSelectors: true }))).toContain("found no matching overload");
});
