import { expect, test } from "bun:test";
import { CompileError, compile, storedEnvironment } from "../index.ts";

const environment = storedEnvironment();
const expression =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

function problemsOf(text: string): string[] {
  try {
    compile(text, environment);
    return [];
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return error.issues.map(
      ({ line, column, message }) => `${line}:${column} ${message.replace("Syntax error: ", "")}`,
    );
  }
}

test.each([
  ["1_000", ["1:2 extraneous input '_000' expecting <EOF>"]],
  ["(1", ["1:3 missing ')' at '<EOF>'"]],
  ["[1 2]", ["1:4 extraneous input '2' expecting {']', ','}"]],
  ["[1,,]", ["1:4 extraneous input ',' expecting ']'"]],
  ["1 + ", [`1:5 mismatched input '<EOF>' expecting ${expression}`]],
  ["{1}", ["1:3 mismatched input '}' expecting ':'"]],
  ["[].null", ["1:4 mismatched input 'null' expecting IDENTIFIER"]],
  ["[].in", ["1:4 no viable alternative at input '.in'", `1:6 mismatched input '<EOF>' expecting ${expression}`]],
  ["", [`1:0 mismatched input '<EOF>' expecting ${expression}`]],
])("%p is refused in upstream's words", (text, problems) => {
  expect(problemsOf(text)).toEqual(problems);
});

test("texts that are all wrong end after some errors", () => {
  expect(problemsOf("$".repeat(50_000)).length).toBe(100);
  expect(problemsOf("a.in ".repeat(10_000)).join("\n")).toContain("error recovery attempt limit exceeded: 30");
  expect(problemsOf(`1 2 ${"(".repeat(50_000)}`)[0]).toContain("error recovery token lookahead limit exceeded: 512");
});
