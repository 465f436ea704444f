import { expect, test } from "bun:test";
import { compilePattern } from "./re2-pattern.ts";

test.each(["^[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?$", "^(a{1,30}){30}$", "\\p{Greek}+[\\pL\\d]*", "x{2,}\\Qa{9}\\E"])(
  "%s is compiled",
  (pattern) => {
    expect(() => compilePattern(pattern)).not.toThrow();
  },
);

test.each([
  ["long", "(a|b)*".repeat(1_000)],
  ["repeated", "a{1000}".repeat(40)],
  ["nested in its repetitions", "(a{30}){30}".repeat(40)],
  ["full of properties", "[\\pL\\pN\\pS\\pP]".repeat(100)],
  ["a property many times", "\\pL{1000}"],
])("a pattern that is too %s is not compiled", (_how, pattern) => {
  expect(() => compilePattern(pattern)).toThrow("error parsing regexp: expression too large");
});
