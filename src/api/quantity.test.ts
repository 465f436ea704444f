import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  formatQuantity,
  maxQuantityLength,
  parseQuantity,
  roundUpToMilli,
} from "./quantity.ts";

describe("canonical text", () => {
  const cases: readonly [input: string, canonical: string][] = [
    ["0", "0"],
    ["-0", "0"],
    ["0Ki", "0"],
    ["007", "7"],
    ["+5", "5"],
    ["1", "1"],
    ["100", "100"],
    ["1000", "1k"],
    ["1000m", "1"],
    ["1500m", "1500m"],
    ["0.5", "500m"],
    [".5", "500m"],
    ["5.", "5"],
    ["1.5", "1500m"],
    ["1024Mi", "1Gi"],
    ["1536Mi", "1536Mi"],
    ["1024", "1024"],
    ["1Ki", "1Ki"],
    ["0.5Ki", "512"],
    ["1.5Gi", "1536Mi"],
    ["0.3Ki", "307200m"],
    ["128974848", "128974848"],
    ["129e6", "129e6"],
    ["129M", "129M"],
    ["1e3", "1e3"],
    ["10e3", "10e3"],
    ["1E", "1E"],
    ["1000E", "1000E"],
    ["1E3", "1e3"],
    ["1e-3", "1e-3"],
    ["-1.5Gi", "-1536Mi"],
    ["1n", "1n"],
    ["0.1n", "1n"],
    ["-0.1n", "-1n"],
    ["0.0000000001", "1n"],
    ["9999999999Ei", "9223372036854775807"],
  ];
  for (const [input, canonical] of cases) {
    test(`${input} is ${canonical}`, () => {
      expect(canonicalQuantity(input)).toBe(canonical);
    });
  }

  test("is the same whether it has to be worked out or not", () => {
    const suffixes = ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e0"];
    for (const number of ["0", "1", "8", "9", "10", "100", "999", "1000", "1024", "007"]) {
      for (const suffix of suffixes) {
        const text = `${number}${suffix}`;
        expect(canonicalQuantity(text)).toBe(formatQuantity(parseQuantity(text)));
      }
    }
  });

  test("is a fixed point and keeps the amount", () => {
    const amounts = fc.tuple(
      fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }),
      fc.constantFrom("", "n", "u", "m", "k", "M", "Ki", "Mi", "Gi", "e2", "e-2"),
    );
    fc.assert(
      fc.property(amounts, ([number, suffix]) => {
        const parsed = parseQuantity(`${number}${suffix}`);
        const text = formatQuantity(parsed);
        expect(canonicalQuantity(text)).toBe(text);
        expect(compareQuantities(parseQuantity(text), parsed)).toBe(0);
      }),
    );
  });
});

describe("text that is not a quantity", () => {
  const cases: readonly [input: string, message: string][] = [
    ["", "must match the regular expression"],
    ["abc", "must match the regular expression"],
    ["1 ", "must match the regular expression"],
    ["1Zi", "must match the regular expression"],
    ["1..2", "must match the regular expression"],
    ["--1", "must match the regular expression"],
    [".", "numeric part"],
    ["1ki", "suffix"],
    ["1KiKi", "suffix"],
    ["1e", "suffix"],
    ["1e+", "suffix"],
    ["1e1000000000", "suffix"],
    ["1".repeat(maxQuantityLength + 1), "must match the regular expression"],
  ];
  for (const [input, message] of cases) {
    test(`${JSON.stringify(input.slice(0, 20))} is refused`, () => {
      expect(() => parseQuantity(input)).toThrow(message);
    });
  }
});

describe("arithmetic", () => {
  test("compares across suffixes exactly", () => {
    expect(compareQuantities(parseQuantity("1Gi"), parseQuantity("1073741824"))).toBe(0);
    expect(compareQuantities(parseQuantity("1G"), parseQuantity("1Gi"))).toBe(-1);
    expect(compareQuantities(parseQuantity("1"), parseQuantity("999m"))).toBe(1);
  });
  test("adds in the format of the first", () => {
    expect(formatQuantity(addQuantities(parseQuantity("512Mi"), parseQuantity("512Mi")))).toBe("1Gi");
    expect(formatQuantity(addQuantities(parseQuantity("0"), parseQuantity("1Ki")))).toBe("1Ki");
  });
  test("rounds up to thousandths, away from zero", () => {
    expect(formatQuantity(roundUpToMilli(parseQuantity("1u")))).toBe("1m");
    expect(formatQuantity(roundUpToMilli(parseQuantity("-1u")))).toBe("-1m");
    expect(formatQuantity(roundUpToMilli(parseQuantity("2")))).toBe("2");
  });
});
