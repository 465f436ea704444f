import { expect, test } from "bun:test";
import { countObjectValues, countValues, hasMoreValues } from "./object-extent.ts";

const documents = [
  [1, null],
  [1, {}],
  [3, [1, "a"]],
  [6, { a: [1, { b: null }], c: "x" }],
] as const;

for (const [values, document] of documents) {
  test(`${JSON.stringify(document)} has ${values} values`, () => {
    const copy = JSON.parse(JSON.stringify(document));
    expect(countValues(copy, 100)).toBe(values);
    expect(hasMoreValues(copy, values)).toBe(false);
    expect(hasMoreValues(copy, values - 1)).toBe(true);
  });
}

test("counting stops at the limit", () => {
  let reads = 0;
  const list = new Proxy(
    Array.from({ length: 1_000 }, () => 1),
    {
      get(target, key, receiver) {
        reads++;
        return Reflect.get(target, key, receiver);
      },
    },
  );
  expect(hasMoreValues(list, 10)).toBe(true);
  expect(reads).toBeLessThan(50);
});

test("the managedFields of an object do not count", () => {
  const object = { metadata: { name: "a", managedFields: [{ fieldsV1: { "f:a": {}, "f:b": {} } }] }, data: { a: "b" } };
  expect(countObjectValues(object, 100)).toBe(5);
  expect(countObjectValues({ data: { a: "b" } }, 100)).toBe(3);
});
