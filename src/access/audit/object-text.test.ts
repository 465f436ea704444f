import { expect, test } from "bun:test";
import { encodeCbor } from "../../api/codec/cbor.ts";
import { stringifyYaml } from "../../api/codec/yaml.ts";
import { runToEnd } from "../../api/testing.ts";
import { objectText, withoutManagedFields } from "./object-text.ts";

const list = {
  kind: "List",
  items: Array.from({ length: 5_000 }, (_, at) => ({
    metadata: { name: `n${at}`, managedFields: [{ manager: "m" }] },
  })),
};
const json = new TextEncoder().encode(JSON.stringify(list));

test.each([
  ["application/json", json, 2],
  ["application/yaml", new TextEncoder().encode(stringifyYaml(list)), 3],
  ["application/cbor", encodeCbor(list), 10],
])("%s is read in several turns", (contentType, bytes, yieldsMin) => {
  const options = { contentType, isRequest: true, decodeProtobuf: () => expect.unreachable() };
  const { result, yields } = runToEnd(objectText(bytes, options));
  expect(JSON.parse(result as string)).toEqual(list);
  expect(yields).toBeGreaterThanOrEqual(yieldsMin);
});

test("managed fields of a list are removed in several turns", () => {
  const { result, yields } = runToEnd(withoutManagedFields(JSON.stringify(list)));
  expect(JSON.parse(result)).toEqual({ ...list, items: list.items.map((_, at) => ({ metadata: { name: `n${at}` } })) });
  expect(yields).toBeGreaterThanOrEqual(3);
});
