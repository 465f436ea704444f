import { expect, test } from "bun:test";
import type { JsonObject } from "../json.ts";
import { runToEnd } from "../testing.ts";
import { encodeDocument, encodeDocumentInSteps } from "./encode-document.ts";
import { parseStoredBody, parseStoredBodyInSteps } from "./field-set-documents.ts";
import { plainJson, type Representation } from "./representation.ts";

const keys = Array.from({ length: 20_000 }, (_, at) => `key-${(at * 7_919) % 20_000}-${"ä".repeat(at % 3)}`);
const wide: JsonObject = { data: Object.fromEntries(keys.map((key) => [key, "v"])) };
const deep: JsonObject = {
  items: keys.map((name) => ({ name, ports: [{ port: 1 }, { port: 2 }], more: {}, none: [] })),
};

test.each(["application/yaml", "application/cbor"] as const)(
  "a large document is encoded in steps as %s",
  (mediaType) => {
    const representation: Representation = { ...plainJson, mediaType };
    for (const document of [wide, deep, { a: 1, b: ["c"], d: { e: null } }, {}]) {
      const typed = { document, schema: undefined };
      const { result, yields } = runToEnd(encodeDocumentInSteps(typed, representation));
      expect(result).toEqual(encodeDocument(typed, representation));
      expect(yields).toBeGreaterThan(document === wide ? 20 : document === deep ? 60 : 0);
    }
  },
);

test("a stored body is parsed with a pause for each of its field sets", () => {
  const entry = (manager: string) => ({
    manager,
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": { [`f:${manager}`]: {} } },
  });
  const text = JSON.stringify({ metadata: { name: "a", managedFields: [entry("a"), entry("b")] }, data: { a: "}]" } });
  const { result, yields } = runToEnd(parseStoredBodyInSteps(text));
  expect(result).toEqual(parseStoredBody(text));
  expect(yields).toBe(2);
  const uncut = JSON.stringify({ metadata: { name: "a" } });
  expect(runToEnd(parseStoredBodyInSteps(uncut)).result).toEqual(JSON.parse(uncut));
});
