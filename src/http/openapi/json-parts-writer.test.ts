import { expect, test } from "bun:test";
import { toText } from "../../api/codec/byte-text.ts";
import type { DocumentPart } from "./document-part.ts";
import { JsonPartsWriter } from "./json-parts-writer.ts";

function written(...parts: DocumentPart[]): string {
  const writer = new JsonPartsWriter();
  for (const part of parts) writer.add(part);
  return toText(writer.finish());
}

test("parts become one object, with those of one parent in it", () => {
  expect(
    written(
      { path: ["a"], value: 1 },
      { path: ["b", "x"], value: [1] },
      { path: ["b", "y"], value: {} },
      { path: ["c", "d", "x"], value: null },
      { path: ["c", "e"], value: "ü" },
      { path: ['"'], value: true },
    ),
  ).toBe('{"a":1,"b":{"x":[1],"y":{}},"c":{"d":{"x":null},"e":"ü"},"\\"":true}');
});

test("a document without parts is an empty object", () => {
  expect(written()).toBe("{}");
});

test("a long document is the same as a short one", () => {
  const text = "x".repeat(50_000);
  const parts = ["a", "b", "c", "d"].map((name) => ({ path: ["all", name], value: text }));
  expect(JSON.parse(written(...parts))).toEqual({ all: { a: text, b: text, c: text, d: text } });
});
