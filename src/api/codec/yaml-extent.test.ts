import { expect, test } from "bun:test";
import fc from "fast-check";
import type { JsonValue } from "../json.ts";
import { countValues } from "../object-extent.ts";
import { stringifyYaml } from "./yaml.ts";
import { yamlValues } from "./yaml-extent.ts";

const cases: readonly (readonly [text: string, values: number])[] = [
  ["a: 1\nb: {c: [x, y], d: {}}\n", 6],
  ["- a\n- b: 1\n  c: 2\n", 4],
  ["a: |\n  - x: 1\n  - y: [1, 2]\nb: 2\n", 2],
  ["- s: |\n    a: b\n  t: 1\n", 3],
  ["a: \"x, [y]: {z}\"\nb: 'it''s, [1]'\n", 2],
  ["a: b # c, [d]\n", 1],
  ["|\n a\nb\n", 1],
  ["a: |\n b\nc: 1\nd: 2\n", 3],
  ["a:\n  |\n  b\nc: 1\n", 4],
];
for (const [text, values] of cases) {
  test(`${JSON.stringify(text)} counts ${values}`, () => expect(yamlValues(text)).toBe(values));
}

test("the count is near that of the document, whatever is in it", () => {
  const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.constantFrom<JsonValue>("a", "a, b", "x: [y]", "- a\n- b\n", "it's", '"', "", 1, true, null),
      fc.array(tie("value"), { maxLength: 5 }),
      fc.dictionary(fc.constantFrom("a", "b", "c d", "e"), tie("value"), { maxKeys: 4 }),
    ),
  }));
  fc.assert(
    fc.property(value, (document) => {
      const values = countValues(document, 1_000_000);
      const counted = yamlValues(stringifyYaml(document));
      expect(counted).toBeGreaterThanOrEqual(values / 3 - 1);
      expect(counted).toBeLessThanOrEqual(3 * values + 3);
    }),
  );
});

test("the lines of a block scalar count as a share of a value, because each takes time", () => {
  expect(yamlValues(`a: |\n${" b\n".repeat(3_200)}`)).toBe(101);
  expect(yamlValues(`a: >\n b\n${"\n".repeat(3_200)} c\n`)).toBe(101);
});

test("counting stops soon after the limit", () => {
  expect(yamlValues("- a\n".repeat(1_000), 10)).toBe(11);
});
