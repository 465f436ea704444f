import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { parseJson } from "./json.ts";
import { parseYaml } from "./yaml.ts";

const documents = 20;
const paddingBytes = 500_000;

function heapBytes(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}

const parsers: readonly (readonly [string, (name: string, padding: string) => unknown])[] = [
  ["JSON with a repeated key", (name, padding) => json(`{"a":"${name}","b":"${padding}","b":1}`)],
  ["YAML", (name, padding) => parseYaml(Buffer.from(`a: ${name}\n# ${padding}`), { strict: true }).value],
];

function json(text: string): unknown {
  return parseJson(Buffer.from(text), { strict: true }).value;
}

test.each(parsers)("a document does not keep the text from which it was parsed: %s", (_name, parse) => {
  const before = heapBytes();
  const kept = Array.from({ length: documents }, (_, at) =>
    parse(`${at}-${"n".repeat(100)}`, "x".repeat(paddingBytes)),
  );
  expect(heapBytes() - before).toBeLessThan((documents * paddingBytes) / 5);
  expect(kept).toHaveLength(documents);
});
