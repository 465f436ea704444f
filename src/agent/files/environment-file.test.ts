import { expect, test } from "bun:test";
import { environmentFileValue } from "./environment-file.ts";

test.each([
  ["A='1'\n", "A", "1"],
  ["# note\n\n  A='1' # end\nB='two words'", "B", "two words"],
  ["A='one\ntwo'\nB='3'", "A", "one\ntwo"],
  ["A='one\ntwo'\nB='3'", "B", "3"],
  ["A= '1'\n", "A", ""],
  ["A='1'\n", "NONE", ""],
  ["A='x=y'\r\n", "A", "x=y"],
])("environmentFileValue() finds in %j the value of %s", (text, key, value) => {
  expect(environmentFileValue(text, key)).toBe(value);
});

test.each([
  ["A\n", "invalid environment variable format at line 1: missing '='"],
  ["\n='1'", "invalid environment variable format at line 2: empty variable name"],
  ["A ='1'", "invalid environment variable format at line 1: whitespace before '=' is not allowed"],
  ["A=1", "invalid environment variable format at line 1: value must be enclosed in single quotes"],
  ["A='1' x", "invalid environment variable format at line 1: unexpected content after closing quote"],
  ["B='1'\nA='1\n2", "invalid environment variable format starting at line 2: unclosed single quote"],
])("environmentFileValue() refuses %j", (text, message) => {
  expect(() => environmentFileValue(text, "Z")).toThrow(message);
});
