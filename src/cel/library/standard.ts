import { codePointCount } from "../../api/code-points.ts";
import { operators } from "../syntax/ast.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  paramOf,
  stringType,
  timestampType,
  typeOf,
  uintType,
} from "../types/cel-type.ts";
import { type FunctionDeclaration, member, type Overload, overload, type Unary } from "../types/declarations.ts";
import { add, divide, modulo, multiply, negate, subtract } from "../values/arithmetic.ts";
import {
  toBool,
  toBytes,
  toDouble,
  toDuration,
  toInt,
  toText,
  toTimestamp,
  toType,
  toUint,
} from "../values/conversion.ts";
import { listContains } from "../values/lists.ts";
import { type Order, orderResult } from "../values/ordering.ts";
import { isError, List, noSuchOverload, type Result, type Value, ValueMap } from "../values/value.ts";
import { matchPattern } from "./pattern.ts";
import { timeFunctions } from "./time.ts";

const a = paramOf("A");
const b = paramOf("B");
const listOfA = listOf(a);
const mapOfAB = mapOf(a, b);

const identity: Unary = (value) => value;
const refuse = { binary: (): Result => noSuchOverload };

/** Operators and functions that every environment has. */
export const standardFunctions: readonly FunctionDeclaration[] = [
  {
    name: operators.conditional,
    overloads: [overload("conditional", [boolType, a, a], a)],
    shared: { variadic: () => noSuchOverload },
  },
  { name: operators.and, overloads: [overload("logical_and", [boolType, boolType], boolType)], shared: refuse },
  { name: operators.or, overloads: [overload("logical_or", [boolType, boolType], boolType)], shared: refuse },
  {
    name: operators.not,
    overloads: [overload("logical_not", [boolType], boolType)],
    shared: { unary: (value) => (typeof value === "boolean" ? !value : noSuchOverload) },
  },
  {
    name: operators.notStrictlyFalse,
    overloads: [overload("not_strictly_false", [boolType], boolType, { unary: identity })],
  },
  { name: operators.equals, overloads: [overload("equals", [a, a], boolType)], shared: refuse },
  { name: operators.notEquals, overloads: [overload("not_equals", [a, a], boolType)], shared: refuse },
  { name: operators.add, overloads: addOverloads(), shared: { binary: add, trait: "adds" } },
  {
    name: operators.subtract,
    overloads: [
      overload("subtract_double", [doubleType, doubleType], doubleType),
      overload("subtract_duration_duration", [durationType, durationType], durationType),
      overload("subtract_int64", [intType, intType], intType),
      overload("subtract_timestamp_duration", [timestampType, durationType], timestampType),
      overload("subtract_timestamp_timestamp", [timestampType, timestampType], durationType),
      overload("subtract_uint64", [uintType, uintType], uintType),
    ],
    shared: { binary: subtract, trait: "subtracts" },
  },
  { name: operators.multiply, overloads: numeric("multiply"), shared: { binary: multiply, trait: "multiplies" } },
  { name: operators.divide, overloads: numeric("divide"), shared: { binary: divide, trait: "divides" } },
  {
    name: operators.modulo,
    overloads: numeric("modulo").filter(({ id }) => id !== "modulo_double"),
    shared: { binary: modulo, trait: "takes-modulus" },
  },
  {
    name: operators.negate,
    overloads: [overload("negate_double", [doubleType], doubleType), overload("negate_int64", [intType], intType)],
    shared: { unary: negate, trait: "negates" },
  },
  comparison(operators.less, "less", (order) => order < 0),
  comparison(operators.lessEquals, "less_equals", (order) => order <= 0),
  comparison(operators.greater, "greater", (order) => order > 0),
  comparison(operators.greaterEquals, "greater_equals", (order) => order >= 0),
  {
    name: operators.index,
    overloads: [overload("index_list", [listOfA, intType], a), overload("index_map", [mapOfAB, a], b)],
    shared: refuse,
  },
  {
    name: operators.in,
    overloads: [overload("in_list", [a, listOfA], boolType), overload("in_map", [a, mapOfAB], boolType)],
    shared: { binary: isIn },
  },
  {
    name: "size",
    overloads: [
      overload("size_bytes", [bytesType], intType),
      member("bytes_size", [bytesType], intType),
      overload("size_list", [listOfA], intType),
      member("list_size", [listOfA], intType),
      overload("size_map", [mapOfAB], intType),
      member("map_size", [mapOfAB], intType),
      overload("size_string", [stringType], intType),
      member("string_size", [stringType], intType),
    ],
    shared: { unary: sizeOf, trait: "has-size" },
  },
  { name: "type", overloads: [overload("type", [a], typeOf(a))], shared: { unary: toType } },
  { name: "dyn", overloads: [overload("to_dyn", [a], dynType)], shared: { unary: identity } },
  ...conversions(),
  ...textTests(),
  {
    name: "matches",
    overloads: [
      overload("matches", [stringType, stringType], boolType),
      member("matches_string", [stringType, stringType], boolType),
    ],
    shared: { binary: matchPattern, trait: "matches" },
  },
  ...timeFunctions,
];

/** Overloads that compare numbers of different types. */
export function isCrossTypeComparison(overloadId: string): boolean {
  return /^(?:less|greater)(?:_equals)?_(?:int64|uint64|double)_(?:int64|uint64|double)$/.test(overloadId);
}

function addOverloads(): Overload[] {
  return [
    overload("add_bytes", [bytesType, bytesType], bytesType),
    overload("add_double", [doubleType, doubleType], doubleType),
    overload("add_duration_duration", [durationType, durationType], durationType),
    overload("add_duration_timestamp", [durationType, timestampType], timestampType),
    overload("add_timestamp_duration", [timestampType, durationType], timestampType),
    overload("add_int64", [intType, intType], intType),
    overload("add_list", [listOfA, listOfA], listOfA),
    overload("add_string", [stringType, stringType], stringType),
    overload("add_uint64", [uintType, uintType], uintType),
  ];
}

function numeric(name: string): Overload[] {
  return [
    overload(`${name}_double`, [doubleType, doubleType], doubleType),
    overload(`${name}_int64`, [intType, intType], intType),
    overload(`${name}_uint64`, [uintType, uintType], uintType),
  ];
}

function comparison(name: string, id: string, holds: (order: Order) => boolean): FunctionDeclaration {
  const pair = (suffix: string, left: CelType, right: CelType) => overload(`${id}_${suffix}`, [left, right], boolType);
  return {
    name,
    overloads: [
      pair("bool", boolType, boolType),
      pair("int64", intType, intType),
      pair("int64_double", intType, doubleType),
      pair("int64_uint64", intType, uintType),
      pair("uint64", uintType, uintType),
      pair("uint64_double", uintType, doubleType),
      pair("uint64_int64", uintType, intType),
      pair("double", doubleType, doubleType),
      pair("double_int64", doubleType, intType),
      pair("double_uint64", doubleType, uintType),
      pair("string", stringType, stringType),
      pair("bytes", bytesType, bytesType),
      pair("timestamp", timestampType, timestampType),
      pair("duration", durationType, durationType),
    ],
    shared: { binary: (left, right) => orderResult(left, right, holds), trait: "compares" },
  };
}

function isIn(element: Value, container: Value): Result {
  if (container instanceof List) return listContains(container, element);
  if (!(container instanceof ValueMap)) return noSuchOverload;
  const found = container.find(element);
  if (found !== undefined && isError(found)) return found;
  return found !== undefined;
}

function sizeOf(value: Value): Result {
  if (typeof value === "string") return BigInt(codePointCount(value));
  if (value instanceof List || value instanceof ValueMap) return BigInt(value.size);
  return value instanceof Uint8Array ? BigInt(value.length) : noSuchOverload;
}

function conversions(): FunctionDeclaration[] {
  const from = (to: string, result: CelType, convert: Unary, sources: readonly (readonly [string, CelType])[]) => ({
    name: to,
    overloads: sources.map(([id, type]) =>
      overload(id, [type], result, { unary: type === result ? identity : convert }),
    ),
  });
  return [
    from("bool", boolType, toBool, [
      ["bool_to_bool", boolType],
      ["string_to_bool", stringType],
    ]),
    from("bytes", bytesType, toBytes, [
      ["bytes_to_bytes", bytesType],
      ["string_to_bytes", stringType],
    ]),
    from("double", doubleType, toDouble, [
      ["double_to_double", doubleType],
      ["int64_to_double", intType],
      ["string_to_double", stringType],
      ["uint64_to_double", uintType],
    ]),
    from("duration", durationType, toDuration, [
      ["duration_to_duration", durationType],
      ["int64_to_duration", intType],
      ["string_to_duration", stringType],
    ]),
    from("int", intType, toInt, [
      ["int64_to_int64", intType],
      ["double_to_int64", doubleType],
      ["duration_to_int64", durationType],
      ["string_to_int64", stringType],
      ["timestamp_to_int64", timestampType],
      ["uint64_to_int64", uintType],
    ]),
    from("string", stringType, toText, [
      ["string_to_string", stringType],
      ["bool_to_string", boolType],
      ["bytes_to_string", bytesType],
      ["double_to_string", doubleType],
      ["duration_to_string", durationType],
      ["int64_to_string", intType],
      ["timestamp_to_string", timestampType],
      ["uint64_to_string", uintType],
    ]),
    from("timestamp", timestampType, toTimestamp, [
      ["timestamp_to_timestamp", timestampType],
      ["int64_to_timestamp", intType],
      ["string_to_timestamp", stringType],
    ]),
    from("uint", uintType, toUint, [
      ["uint64_to_uint64", uintType],
      ["double_to_uint64", doubleType],
      ["int64_to_uint64", intType],
      ["string_to_uint64", stringType],
    ]),
  ];
}

function textTests(): FunctionDeclaration[] {
  const test = (name: string, id: string, holds: (text: string, part: string) => boolean): FunctionDeclaration => ({
    name,
    overloads: [
      member(id, [stringType, stringType], boolType, {
        binary: (text, part) =>
          typeof text === "string" && typeof part === "string" ? holds(text, part) : noSuchOverload,
      }),
    ],
    unguarded: true,
  });
  return [
    test("contains", "contains_string", (text, part) => text.includes(part)),
    test("endsWith", "ends_with_string", (text, part) => text.endsWith(part)),
    test("startsWith", "starts_with_string", (text, part) => text.startsWith(part)),
  ];
}
