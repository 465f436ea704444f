import { expect, test } from "bun:test";
import { fieldErrorsMax } from "../../../api/validation/labels.ts";
import { atOnce } from "../../../process/sliced.ts";
import type { ExpressionAge } from "../device-expressions.ts";
import { compileSelectors, validateDeviceSelectors } from "./device-selector.ts";

const attributes = 'device.attributes["dra.example.com"]';

function problems(expressions: readonly string[], age?: ExpressionAge): string[] {
  const selectors = expressions.map((expression) => ({ cel: { expression } }));
  const errors = validateDeviceSelectors(selectors, atOnce(compileSelectors([selectors], age)), "s");
  return errors.map(({ field, message }) => `${field}: ${message}`);
}

test.each([
  "true",
  'device.driver == "dra.example.com"',
  `${attributes}.flag`,
  `${attributes}.flag && !${attributes}.other`,
  `has(${attributes}.name) && ${attributes}.name.startsWith("a")`,
  `${attributes}.version.isGreaterThan(semver("1.0.0"))`,
  'device.capacity["dra.example.com"].memory.isGreaterThan(quantity("1Gi"))',
  "device.allowMultipleAllocations",
  `cel.bind(dra, ${attributes}, dra.one && dra.two)`,
  "cel.bind(a, 1, cel.bind(b, a, a == b))",
  "device.attributes.all(d, device.attributes[d].all(id, device.attributes[d][id] == 1))",
])("a device can be selected by %s", (expression) => {
  expect(problems([expression])).toEqual([]);
});

test.each([
  ["device.driver", "must evaluate to bool or the unknown type, not string"],
  [attributes, "must evaluate to bool or the unknown type, not map(string, google.protobuf.Any)"],
  ["x", "compilation failed: ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x\n | ^"],
  ["device.name", "compilation failed: ERROR: <input>:1:7: undefined field 'name'\n | device.name\n | ......^"],
  [
    "cel.bind(1, 2, true)",
    "compilation failed: ERROR: <input>:1:10: cel.bind() variable names must be simple identifiers\n | cel.bind(1, 2, true)\n | .........^",
  ],
])("%s selects no devices", (expression, problem) => {
  expect(problems([expression])).toEqual([
    `s[0].cel.expression: Invalid value: ${JSON.stringify(expression)}: ${problem}`,
  ]);
});

test("an expression that may cost too much is refused", () => {
  const expression = ["a", "b", "c", "d"].reduce((inner, name) => `device.attributes.all(${name}, ${inner})`, "true");
  expect(problems([expression])).toEqual(["s[0].cel.expression: Forbidden: too complex, exceeds cost limit"]);
});

test("a long expression is refused, whatever it says", () => {
  expect(problems(["x".repeat(10_241)])).toEqual(["s[0].cel.expression: Too long: may not be more than 10240 bytes"]);
});

test("the expressions of a list that is too long are not compiled", () => {
  expect(problems(Array.from({ length: 33 }, (_, at) => `x${at}`))).toEqual([
    "s: Too many: 33: must have at most 32 items",
  ]);
});

test("a repeated expression is compiled once, and no more than clients are told of", () => {
  const stepsOf = (...texts: string[]) => [...compileSelectors([texts.map((expression) => ({ cel: { expression } }))])];
  expect(stepsOf("a", "b", "a")).toHaveLength(stepsOf("a", "b").length);
  const lists = Array.from({ length: 10 }, (_, list) =>
    Array.from({ length: 32 }, (_, at) => ({ cel: { expression: `x${list}_${at}` } })),
  );
  expect(atOnce(compileSelectors(lists)).size).toBe(fieldErrorsMax);
});
