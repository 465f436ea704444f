import { expect, test } from "bun:test";
import { NoAnswerError } from "./transport.ts";
import { linesOf } from "./watch-lines.ts";

async function lines(chunks: readonly string[], bytesMax?: number): Promise<string[]> {
  async function* body() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  return (await Array.fromAsync(linesOf(body(), bytesMax))).map((line) => Buffer.from(line).toString());
}

test.each([
  [["a\nb\n"], ["a", "b"]],
  [
    ["a", "b", "c\nd", "\n"],
    ["abc", "d"],
  ],
  [["\n\na\n"], ["a"]],
  [[], []],
])("linesOf(%j) are %j", async (chunks, expected) => {
  expect(await lines(chunks)).toEqual(expected);
});

test("a truncated line is not an answer", async () => {
  expect(lines(["a\nb"])).rejects.toBeInstanceOf(NoAnswerError);
});

test.each([[["12345\n"]], [["123", "45\n"]], [["123", "456"]]])(
  "a line beyond the bound is given up: %j",
  async (chunks) => {
    expect(lines(chunks, 4)).rejects.toThrow("longer than 4 bytes");
    expect(await lines(["1234\n1234\n"], 4)).toEqual(["1234", "1234"]);
  },
);
