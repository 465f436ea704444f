import { expect, test } from "bun:test";
import { countValues, hasMoreValues } from "./object-extent.ts";

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
