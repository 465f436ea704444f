import { expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonObject, JsonValue } from "../json.ts";
import { fieldSetText, parseStoredBody } from "./field-set-documents.ts";
import { stringifyJson } from "./json.ts";

const fields = { "f:data": { ".": {}, "f:a": {} } };
const entry = { manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: fields };
const bodyOf = (managedFields: JsonValue, others: JsonObject = {}) => ({
  metadata: { name: "a", managedFields },
  ...others,
});
const setsOf = (body: JsonValue) =>
  (body as { metadata: { managedFields: JsonObject[] } }).metadata.managedFields.map(({ fieldsV1 }) => fieldsV1);

const awkward = ["}", "}}", '}},{"manager":"', "}]", '},"subresource":"x', '"fieldsV1":{', "\\", '"', "a"];

const bodies: JsonValue[] = [
  { metadata: { name: "a" } },
  bodyOf([]),
  bodyOf([entry], { data: { a: "1" } }),
  bodyOf([{ ...entry, subresource: "status" }, { ...entry, subresource: "scale" }, entry]),
  bodyOf([{ manager: "m", operation: "Update" }, entry]),
  bodyOf([entry], { spec: { managedFields: [entry], number: 12345678901234567890n } }),
  { metadata: { name: "a" }, spec: { managedFields: [entry] } },
  bodyOf([{ ...entry, fieldsV1: null }, entry]),
  bodyOf([
    { ...entry, fieldsV1: "text" },
    { ...entry, fieldsV1: 1 },
  ]),
  ...awkward.map((text) => bodyOf([{ ...entry, fieldsV1: { [`f:${text}`]: {} } }, entry])),
];

test.each(bodies.map((body) => stringifyJson(body)))("parseStoredBody reads %s", (text) => {
  for (const parsed of [parseStoredBody(text), parseStoredBody(text)]) {
    expect(stringifyJson(parsed)).toBe(text);
  }
});

test("parseStoredBody reads what any entries and names make", () => {
  const word = fc.constantFrom(...awkward).chain((a) => fc.constantFrom(...awkward).map((b) => a + b));
  const set = fc.letrec<{ set: JsonObject }>((tie) => ({
    set: fc.oneof({ maxDepth: 3 }, fc.constant({}), fc.dictionary(word, tie("set"), { maxKeys: 3 })),
  })).set;
  const entries = fc.array(
    fc.record({ manager: word, fieldsV1: set, subresource: word }, { requiredKeys: ["fieldsV1"] }),
  );
  fc.assert(
    fc.property(entries, word, (managedFields, name) => {
      const body = { metadata: { name, managedFields }, data: { [name]: name } };
      expect(stringifyJson(parseStoredBody(stringifyJson(body)))).toBe(stringifyJson(body));
    }),
  );
});

test("objects with equal field sets share one document, whose text is known", () => {
  const text = stringifyJson(bodyOf([entry, { ...entry, subresource: "status" }]));
  const [first, second] = setsOf(parseStoredBody(text));
  expect(second).toBe(first as JsonObject);
  expect(setsOf(parseStoredBody(text))[0]).toBe(first as JsonObject);
  expect(fieldSetText(first as JsonObject)).toBe(stringifyJson(fields));
});
