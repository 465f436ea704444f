import { expect, test } from "bun:test";
import { isPresent, listOf, numberOf, objectOf, objectsOf, sizeOf, textOf, textsOf } from "./json-reading.ts";

test("values of the expected type are returned as they are", () => {
  const object = { a: 1 };
  expect(textOf("x")).toBe("x");
  expect(numberOf(7)).toBe(7);
  expect(numberOf(7n)).toBe(7);
  expect(objectOf(object)).toBe(object);
  expect(listOf([1, "x"])).toEqual([1, "x"]);
  expect(objectsOf([object])).toEqual([object]);
  expect(textsOf(["x", "y"])).toEqual(["x", "y"]);
  expect(sizeOf([1, 2])).toBe(2);
  expect(sizeOf(object)).toBe(1);
});

test.each([undefined, null, true])("%p reads as the empty value of every type", (value) => {
  expect(textOf(value)).toBe("");
  expect(numberOf(value)).toBe(0);
  expect(objectOf(value)).toEqual({});
  expect(listOf(value)).toEqual([]);
  expect(objectsOf(value)).toEqual([]);
  expect(textsOf(value)).toEqual([]);
  expect(sizeOf(value)).toBe(0);
});

test("a list is not an object", () => {
  expect(objectOf([1])).toEqual({});
});

test("items of another type keep the position of the others in a list of texts", () => {
  expect(textsOf(["a", 1, "b"])).toEqual(["a", "", "b"]);
  expect(objectsOf([1, { a: 1 }, "b"])).toEqual([{ a: 1 }]);
});

test("a missing object has no inherited fields and cannot be changed", () => {
  const missing = objectOf(undefined);
  expect(missing["constructor"]).toBeUndefined();
  expect(() => {
    missing["a"] = 1;
  }).toThrow();
});

test("null and absent values are not present, empty ones are", () => {
  expect([undefined, null].map(isPresent)).toEqual([false, false]);
  expect(["", 0, false].map(isPresent)).toEqual([true, true, true]);
});
