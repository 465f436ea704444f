import { expect, test } from "bun:test";
import type { JsonValue } from "../../api/json.ts";
import { lostField } from "./lost-field.ts";

test.each<[JsonValue, JsonValue, string | undefined]>([
  [{ a: 1, b: [{ c: "x" }] }, { b: [{ c: "x", d: "default" }], a: 1, e: {} }, undefined],
  [{ a: { b: [], c: "", d: {}, e: null } }, { a: {} }, undefined],
  [{ a: { b: false } }, { a: {} }, ".a.b"],
  [{ a: { b: 1 } }, { a: { b: 2 } }, ".a.b"],
  [{ a: [{ b: 1 }, { b: 2 }] }, { a: [{ b: 1 }, {}] }, ".a[1].b"],
  [{ a: [1, 2] }, { a: [1] }, ".a"],
  [{ a: {} }, { a: [] }, ".a"],
  [{ a: {} }, { a: { b: "default" } }, undefined],
])("%j, copied as %j, loses %j", (source, copy, lost) => expect(lostField(source, copy)).toBe(lost as string));
