import { expect, test } from "bun:test";
import type { JsonValue } from "../../api/json.ts";
import { followJsonPath, parseJsonPath } from "./json-path.ts";

function valuesAt(text: string, value: JsonValue): JsonValue[] | undefined {
  const path = parseJsonPath(text);
  return path && followJsonPath(path, value);
}

const value = {
  a: [
    { n: 1, s: "x" },
    { n: 2, s: "y" },
  ],
  b: { c: null },
};

test.each<[path: string, values: JsonValue[] | undefined]>([
  [".a[*].n", [1, 2]],
  [".a[-1].s", ["y"]],
  [".a[0,1].n", [1, 2]],
  ['.a[?(@.s=="y")].n', [2]],
  ["..n", [1, 2]],
  [".zz", []],
  [".b.__proto__", []],
  [".a[5]", undefined],
  [".a[", undefined],
])("%s leads to %j", (path, values) => {
  expect(valuesAt(path, value)).toEqual(values as never);
});

test("a path that looks at too many values leads nowhere", () => {
  const list = Array.from({ length: 9_000 }, (_, at) => at);
  for (const path of [`.l[${Array(3_000).fill("*").join(",")}]`, ".l[*,*][*,*]", `.l${"[*]".repeat(200)}`]) {
    expect(valuesAt(path, { l: list }) ?? []).toEqual([]);
  }
  let nested: JsonValue = [list];
  for (let depth = 0; depth < 50; depth++) nested = [nested];
  expect(valuesAt("....", { l: nested }) ?? []).toEqual([]);
});
