import { expect, test } from "bun:test";
import { terminalSizes } from "./terminal-sizes.ts";

async function sizesOf(...chunks: readonly string[]): Promise<string[]> {
  async function* input() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const sizes: string[] = [];
  for await (const { width, height } of terminalSizes(input())) sizes.push(`${width}x${height}`);
  return sizes;
}

test("documents may arrive in parts, and several at once", async () => {
  expect(await sizesOf('{"Width":80,"Height":24}{"Width"', ':1,"Height"', ':2}\n{"Height":4,"Width":3}')).toEqual([
    "80x24",
    "1x2",
    "3x4",
  ]);
});

test.each([
  ["text", "x}"],
  ["another document", '{"Width":"80","Height":24}'],
  ["a negative size", '{"Width":-1,"Height":24}'],
  ["a large size", '{"Width":65536,"Height":24}'],
  ["a long text", `{${" ".repeat(2_000)}`],
])("%s ends the sizes", async (_, text) => {
  expect(await sizesOf('{"Width":80,"Height":24}', text, '{"Width":80,"Height":24}')).toEqual(["80x24"]);
});
