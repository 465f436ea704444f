import { expect, test } from "bun:test";
import { Scheme } from "../../kinds/scheme.ts";
import type { JsonObject } from "../json.ts";
import { decodeTyped } from "./decode.ts";
import { cloneDecoded, givenEmptyFields, isGivenEmpty } from "./given-empty.ts";

const schema = Scheme.builtIn().typeSchema("meta/v1.ObjectMeta");
const decode = (document: JsonObject) => decodeTyped(schema, document, { kind: "ObjectMeta", takesOver: true }).object;

test.each<[given: JsonObject, empty: string[]]>([
  [{ labels: {}, finalizers: [], annotations: { a: "b" } }, ["labels", "finalizers"]],
  [{ labels: null, name: "" }, []],
  [{ name: "a", labels: {} }, ["labels"]],
])("of %j the empty lists and maps are left out and remembered", (given, empty) => {
  const object = decode(given);
  for (const field of empty) expect(object).not.toHaveProperty(field);
  expect([...givenEmptyFields(object)].toSorted()).toEqual(empty.toSorted());
});

test("they are still known after the struct is decoded again", () => {
  const once = decode({ labels: {} });
  expect(isGivenEmpty(decode(Object.assign(once, { name: "a", generateName: "b" })), "labels")).toBe(true);
  expect(isGivenEmpty(cloneDecoded([once])[0] as JsonObject, "labels")).toBe(true);
  expect(isGivenEmpty(once, "annotations")).toBe(false);
  expect(isGivenEmpty(undefined, "labels")).toBe(false);
});
