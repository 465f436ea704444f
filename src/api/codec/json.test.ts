import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuMs } from "../../../test/cpu-time.ts";
import type { JsonValue } from "../json.ts";
import { runToEnd } from "../testing.ts";
import { JsonSyntaxError, jsonDepthMax, parseJson, parseJsonInSteps, stringifyJson } from "./json.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const parse = (text: string, strict = true) => parseJson(bytes(text), { strict });

function errorOf(text: string, strict: boolean): JsonSyntaxError {
  try {
    parse(text, strict);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  throw new Error(`accepted: ${text.slice(0, 80)}`);
}

test("a long text that only our own parser reads is parsed in steps", () => {
  const values = Array.from({ length: 20_000 }, (_, at) => ({ [`k-${at}`]: "\ud83d\ude00", more: [at, {}] }));
  const text = JSON.stringify({ values }).replaceAll("\ud83d\ude00", "\\ud83d\\ude00");
  const { result, yields } = runToEnd(parseJsonInSteps(bytes(text), { strict: true }));
  expect(result.value).toEqual({ values });
  expect(yields).toBeGreaterThan(80);
});

describe("parseJson", () => {
  const refused: readonly (readonly [text: string, message: string, offset: number])[] = [
    ["", "unexpected end of JSON input", 0],
    ["{", "unexpected end of JSON input", 1],
    ['{"a":', "unexpected end of JSON input", 5],
    ['"ab', "unexpected end of JSON input", 3],
    ["x", "invalid character 'x' looking for beginning of value", 0],
    ["NaN", "invalid character 'N' looking for beginning of value", 0],
    ["[1,]", "invalid character ']' looking for beginning of value", 3],
    ["{a:1}", "invalid character 'a' looking for beginning of object key string", 1],
    ['{"a" 1}', "invalid character '1' after object key", 5],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair", 7],
    ["[1 2]", "invalid character '2' after array element", 3],
    ["{} {}", "invalid character '{' after top-level value", 3],
    ["// c\n1", "invalid character '/' looking for beginning of value", 0],
    ['"a\nb"', "invalid character '\\n' in string literal", 2],
    ['"\u0001"', "invalid character '\\x01' in string literal", 1],
    ['"\\x"', "invalid character 'x' in string escape code", 2],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape", 5],
    ["01", "invalid character '1' after top-level value", 1],
    ["-", "unexpected end of JSON input", 1],
    ["-a", "invalid character 'a' in numeric literal", 1],
    ["1.x", "invalid character 'x' after decimal point in numeric literal", 2],
    ["1e+x", "invalid character 'x' in exponent of numeric literal", 3],
    ["trug", "invalid character 'g' in literal true (expecting 'e')", 3],
    ["1e999", "json: cannot unmarshal number 1e999 into Go value of type float64", 0],
    ["\ufeff{}", "invalid character 'ï' looking for beginning of value", 0],
    ['["é", x]', "invalid character 'x' looking for beginning of value", 7],
  ];
  for (const [text, message, offset] of refused) {
    test(`refuses ${JSON.stringify(text)}`, () => {
      for (const strict of [true, false]) {
        const error = errorOf(text, strict);
        expect(error.message).toBe(message);
        expect(error.offset).toBe(offset);
      }
    });
  }

  test("refuses a document that nests too deeply, whatever its size", () => {
    for (const depth of [jsonDepthMax + 1, 100_000, 1_000_000]) {
      for (const strict of [true, false]) {
        expect(errorOf("[".repeat(depth) + "]".repeat(depth), strict).message).toBe(
          "invalid character '[' exceeded max depth",
        );
        expect(errorOf('{"a":'.repeat(depth), strict).message).toMatch(/exceeded max depth|unexpected end/);
      }
    }
    expect(() => parse("[".repeat(jsonDepthMax) + "]".repeat(jsonDepthMax))).not.toThrow();
  });

  test("reports repeated keys with their paths, the last value holding", () => {
    const text = '{"spec":{"a":1,"a":2,"list":[{"b":1,"b":2,"b":3}]},"spec":{"z":1,"z":2}}';
    const { value, duplicates } = parse(text);
    expect(duplicates).toEqual(["spec.a", "spec.list[0].b", "spec", "spec.z"]);
    expect(value).toEqual({ spec: { z: 2 } });
    expect(parse(text, false).duplicates).toEqual([]);
  });

  test("keeps 64-bit integers exact and falls back to a double beyond them", () => {
    for (const strict of [true, false]) {
      const list = (text: string) => parse(text, strict).value;
      expect(list("[9007199254740991,9007199254740993]")).toEqual([9007199254740991, 9007199254740993n]);
      expect(list("[-9223372036854775808]")).toEqual([-9223372036854775808n]);
      expect(list("[18446744073709551615]")).toEqual([18446744073709551615n]);
      expect(list("[18446744073709551616]")).toEqual([18446744073709552000]);
      expect(list("[9223372036854775807.5]")).toEqual([2 ** 63]);
    }
    expect(parse("1".repeat(300)).value).toBe(Number("1".repeat(300)));
  });

  test("treats the names of Object.prototype as ordinary keys", () => {
    const text = '{"__proto__":{"polluted":true},"constructor":1,"toString":2,"hasOwnProperty":3}';
    for (const strict of [true, false]) {
      const { value, duplicates } = parse(text, strict);
      expect(duplicates).toEqual([]);
      expect(Object.keys(value as object)).toEqual(["__proto__", "constructor", "toString", "hasOwnProperty"]);
      expect(stringifyJson(value)).toBe(text);
      expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
    }
  });

  test("replaces lone surrogates and invalid UTF-8, as Go does", () => {
    for (const strict of [true, false]) {
      expect(parse('["\\ud800","\\ud83d\\ude00","\\ude00x"]', strict).value).toEqual(["\ufffd", "😀", "\ufffdx"]);
      expect(parseJson(new Uint8Array([0x22, 0xff, 0x22]), { strict }).value).toBe("\ufffd");
    }
  });

  test("reads what JSON.parse reads, in both modes", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), fc.boolean(), (text, strict) => {
        const expected = JSON.stringify(JSON.parse(text.toWellFormed()));
        if (/\d{16}|\\u[dD]|[\ud800-\udfff]/.test(text)) return;
        expect(JSON.stringify(parse(text, strict).value)).toBe(expected);
      }),
    );
  });

  test("answers any bytes with a value or a JsonSyntaxError, and the same in both modes", () => {
    const nearJson = fc.array(
      fc.constantFrom(
        "{",
        "}",
        "[",
        "]",
        '"',
        ":",
        ",",
        "1",
        "-",
        ".",
        "e9",
        "true",
        "nul",
        "\\",
        "\\u12",
        " ",
        "a",
        "é",
      ),
    );
    const input = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      nearJson.map((parts) => bytes(parts.join(""))),
    );
    const outcome = (data: Uint8Array, strict: boolean): string => {
      try {
        return stringifyJson(parseJson(data, { strict }).value);
      } catch (error) {
        expect(error).toBeInstanceOf(JsonSyntaxError);
        return (error as Error).message;
      }
    };
    fc.assert(
      fc.property(input, (data) => outcome(data, true) === outcome(data, false)),
      { numRuns: 1_000 },
    );
  });

  test("stays linear on huge numbers and on many keys", () => {
    const started = cpuMs();
    expect(() => parse(`[${"9".repeat(5_000_000)}]`)).toThrow(JsonSyntaxError);
    const keys = Array.from({ length: 100_000 }, (_, at) => `"k${at}":${at}`).join(",");
    expect(Object.keys(parse(`{${keys}}`).value as object)).toHaveLength(100_000);
    expect(cpuMs() - started).toBeLessThan(1_500);
  });
});

describe("stringifyJson", () => {
  const cases: readonly (readonly [value: JsonValue, text: string])[] = [
    [{ a: 9223372036854775807n, b: [1n] }, '{"a":9223372036854775807,"b":[1]}'],
    [{ "<k>": "a&b<c>\u2028\u2029" }, '{"\\u003ck\\u003e":"a\\u0026b\\u003cc\\u003e\\u2028\\u2029"}'],
    [[], "[]"],
    [null, "null"],
    ['"\\\n', '"\\"\\\\\\n"'],
  ];
  for (const [value, text] of cases) {
    test(`writes ${text}`, () => {
      expect(stringifyJson(value)).toBe(text);
    });
  }

  test("indents by two spaces when asked", () => {
    expect(stringifyJson({ a: [1n], b: {} }, 2)).toBe('{\n  "a": [\n    1\n  ],\n  "b": {}\n}');
  });

  test("writes what parseJson reads back", () => {
    const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const value = fc.anything({
      maxDepth: 4,
      values: [fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean(), fc.constant(null), int64],
      withNullPrototype: true,
    }) as fc.Arbitrary<JsonValue>;
    fc.assert(
      fc.property(value, (document) => {
        const text = stringifyJson(document);
        expect(stringifyJson(parse(text).value)).toBe(text);
        expect(stringifyJson(parse(text, false).value)).toBe(text);
      }),
    );
  });
});

test("a text is parsed in passes, between which others may have a turn", () => {
  const text = new TextEncoder().encode('{"a":1,"a":2}');
  const steps = parseJsonInSteps(text, { strict: true });
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  expect(pauses).toBe(3);
  expect(step.value).toEqual({ value: { a: 2 }, duplicates: ["a"] });
});
