import { describe, expect, test } from "bun:test";
import { encode as encodeElsewhere } from "cbor-x";
import fc from "fast-check";
import { equalJson, type JsonValue } from "../json.ts";
import { runToEnd } from "../testing.ts";
import { CborDecodeError, cborDepthMax, decodeCbor, decodeCborInSteps, encodeCbor } from "./cbor.ts";
import { parseJson, stringifyJson } from "./json.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
const unhex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));

describe("encodeCbor", () => {
  const cases: readonly (readonly [value: JsonValue, bytes: string])[] = [
    [null, "f6"],
    [true, "f5"],
    [23, "17"],
    [24, "1818"],
    [256, "190100"],
    [65_536, "1a00010000"],
    [4_294_967_296, "1b0000000100000000"],
    [-1, "20"],
    [-256, "38ff"],
    [9223372036854775807n, "1b7fffffffffffffff"],
    [-9223372036854775808n, "3b7fffffffffffffff"],
    [18446744073709551615n, "1bffffffffffffffff"],
    [1.5, "f93e00"],
    [5.960464477539063e-8, "f90001"],
    [-0.00006103515625, "f98400"],
    [65_504.5, "fa477fe080"],
    [100_000.5, "fa47c35040"],
    [1.1, "fb3ff199999999999a"],
    ["é", "42c3a9"],
    [[], "80"],
    [{}, "a0"],
    [{ bb: 1, a: 2, c: 3 }, "a3 4161 02 4163 03 426262 01"],
  ];
  for (const [value, bytes] of cases) {
    test(`writes ${stringifyJson(value)} as ${bytes}`, () => {
      expect(hex(encodeCbor(value))).toBe(`d9d9f7${bytes.replaceAll(" ", "")}`);
      expect(decodeCbor(unhex(bytes))).toEqual(value);
    });
  }
});

describe("decodeCbor", () => {
  const accepted: readonly (readonly [title: string, bytes: string, value: JsonValue])[] = [
    ["text strings for text and keys", "a1 6161 6162", { a: "b" }],
    ["lists and maps of indefinite length", "bf 4161 9f 01 02 ff ff", { a: [1, 2] }],
    ["strings in chunks", "5f 4161 4162 ff", "ab"],
    ["base64 behind tag 22", "d6 420102", "AQI="],
    ["base64url behind tag 21", "d5 42fbff", "-_8"],
    ["hexadecimal behind tag 23", "d7 420aff", "0aff"],
    ["the content of an unknown tag", "d9010001", 1],
    ["seconds since the epoch as a time", "c1 01", "1970-01-01T00:00:01Z"],
    ["floats of every width", "83 f93c00 fa3f800000 fb3ff0000000000000", [1, 1, 1]],
  ];
  for (const [title, bytes, value] of accepted) {
    test(`reads ${title}`, () => {
      expect(decodeCbor(unhex(bytes))).toEqual(value);
    });
  }

  const refused: readonly (readonly [title: string, bytes: string])[] = [
    ["nothing", ""],
    ["trailing bytes", "0101"],
    ["a repeated key", "a2 4161 01 4161 02"],
    ["a repeated key in another string type", "a2 4161 01 6161 02"],
    ["a key that is a number", "a1 01 02"],
    ["a key that is a map", "a1 a0 02"],
    ["a list of 2^32 items", "9affffffff"],
    ["a list of 2^64 items", "9bffffffffffffffff"],
    ["a map of 2^62 pairs", "bb4000000000000000"],
    ["a string of 2^40 bytes", "5b0000010000000000"],
    ["a bignum", "c2 4101"],
    ["NaN", "f97e00"],
    ["infinity", "fa7f800000"],
    ["undefined", "f7"],
    ["an unassigned simple value", "f0"],
    ["a reserved length", "1c"],
    ["a lone break", "ff"],
    ["a list that never ends", "9f01"],
    ["a chunk of another type", "5f 6161 ff"],
    ["a chunk of indefinite length", "5f 5f ff ff"],
    ["invalid UTF-8 in text", "61ff"],
    ["a negative number beyond int64", "3bffffffffffffffff"],
    ["a time out of range", "c1 1b7fffffffffffffff"],
  ];
  for (const [title, bytes] of refused) {
    test(`refuses ${title}`, () => {
      expect(() => decodeCbor(unhex(bytes))).toThrow(CborDecodeError);
    });
  }

  test("refuses endless nesting of lists, maps, tags and indefinite lists", () => {
    for (const opening of ["81", "a14161", "c0", "9f"]) {
      expect(() => decodeCbor(unhex(opening.repeat(100_000)))).toThrow(`exceeded max nested level ${cborDepthMax}`);
    }
  });

  test("keeps __proto__ as a key", () => {
    const value = parseJson(new TextEncoder().encode('{"__proto__":{"a":1}}'), { strict: true }).value;
    expect(Object.keys(decodeCbor(encodeCbor(value)) as object)).toEqual(["__proto__"]);
  });

  test("reads what another implementation writes", () => {
    const document = { a: [1, -2, 1.5, "text", null, true], b: { c: {} } };
    expect(decodeCbor(new Uint8Array(encodeElsewhere(document)))).toEqual(document);
  });
});

const document = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.string({ unit: "grapheme" }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
    fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 4, noNullPrototype: false }),
  ),
})).value;

test("documents come back as they went out", () => {
  fc.assert(
    fc.property(document, (value) => {
      expect(equalJson(decodeCbor(encodeCbor(value)), value)).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("any bytes give a document or a CborDecodeError", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        stringifyJson(decodeCbor(bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(CborDecodeError);
      }
    }),
    { numRuns: 2_000 },
  );
});

describe("decodeCborInSteps", () => {
  const list = Array.from({ length: 20_000 }, (_, at) => ({ name: `n-${at}`, values: [at, null, -1.5, {}] }));
  const keys = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`key-${at}`, at % 2 === 0 ? "v" : [at]]));

  test("reads the same document with pauses", () => {
    for (const document of [list, keys]) {
      const bytes = encodeCbor(document);
      const { result, yields } = runToEnd(decodeCborInSteps(bytes, Number.POSITIVE_INFINITY));
      expect(result).toEqual(decodeCbor(bytes));
      expect(yields).toBeGreaterThan(10);
    }
  });

  test("rejects what decodeCbor() rejects", () => {
    const bytes = encodeCbor(keys);
    const deep = Uint8Array.from({ length: 100_000 }, () => 0x81);
    const doubled = Uint8Array.from([...encodeCbor(Object.keys(keys)), 0xa2, 0x41, 0x61, 1, 0x41, 0x61, 1]);
    for (const broken of [bytes.subarray(0, -1), Uint8Array.from([...bytes, 0]), deep, doubled.subarray(3)]) {
      let message = "";
      expect(() => decodeCbor(broken)).toThrow(CborDecodeError);
      try {
        decodeCbor(broken);
      } catch (error) {
        message = (error as Error).message;
      }
      expect(() => runToEnd(decodeCborInSteps(broken, Number.POSITIVE_INFINITY))).toThrow(message);
    }
    expect(() => runToEnd(decodeCborInSteps(bytes, 10_000))).toThrow("10000 values");
  });
});
