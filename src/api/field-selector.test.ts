import { expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../../test/cpu-time.ts";
import {
  fieldSelectorText,
  fieldTermsMax,
  matchesFields,
  parseFieldSelector,
  requireFieldValue,
} from "./field-selector.ts";
import { StatusError } from "./status.ts";

const fields = new Map([
  ["metadata.name", "web-0"],
  ["status.phase", "Running"],
  ["odd", "a,b=c\\d"],
]);
const read = (label: string) => fields.get(label) ?? "";

test.each([
  ["", true],
  ["metadata.name=web-0", true],
  ["metadata.name==web-0", true],
  ["metadata.name=web-1", false],
  ["status.phase!=Succeeded,status.phase!=Failed", true],
  ["status.phase!=Running", false],
  ["spec.nodeName=", true],
  ["spec.nodeName!=", false],
  [",metadata.name=web-0,", true],
  ["=", true],
  ["!=", true],
  ["odd=a\\,b\\=c\\\\d", true],
  ["metadata.name=web-0,metadata.name=web-1", false],
])("field selector %p on the sample fields selects: %p", (text, selected) => {
  expect(matchesFields(parseFieldSelector(text), read)).toBe(selected);
});

test.each([
  ["metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
  ["a=b=c", "invalid field selector: unescaped character in value: 61"],
  ["a=b\\c", "invalid field selector: invalid escape sequence: \\c"],
  ["a=b\\", "invalid field selector: invalid escape sequence: \\"],
])("field selector %p is refused with %p", (text, message) => {
  expect(() => parseFieldSelector(text)).toThrow(message);
});

test.each([
  ["metadata.name=x", "x"],
  ["metadata.name==x,status.phase=y", "x"],
  ["metadata.name!=x", undefined],
  ["status.phase=x", undefined],
])("field selector %p pins the name to %p", (text, name) => {
  expect(requireFieldValue(parseFieldSelector(text), "metadata.name")).toBe(name);
});

test("more terms than the bound are refused quickly", () => {
  const started = cpuMs();
  expect(() => parseFieldSelector("a=b,".repeat(100_000))).toThrow(`at most ${fieldTermsMax}`);
  expect(cpuMs() - started).toBeLessThan(100);
});

test("the text of a selector parses to the same selector, whatever the values", () => {
  const term = fc.record({
    label: fc.stringMatching(/^[a-z.]{1,8}$/),
    operator: fc.constantFrom("=" as const, "!=" as const),
    value: fc.oneof(fc.string(), fc.stringMatching(/^[\\,=]{0,5}$/)),
  });
  fc.assert(
    fc.property(fc.array(term, { maxLength: 5 }), (terms) => {
      const parsed = parseFieldSelector(fieldSelectorText({ terms })).terms;
      expect(new Set(parsed.map((each) => JSON.stringify(each)))).toEqual(
        new Set(terms.map(({ label, operator, value }) => JSON.stringify({ label, operator, value }))),
      );
    }),
  );
});

test("any text parses or is refused with a 400", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      try {
        parseFieldSelector(text);
      } catch (error) {
        if (!(error instanceof StatusError)) throw error;
        expect(error.code).toBe(400);
      }
    }),
    { numRuns: 1_000 },
  );
});
