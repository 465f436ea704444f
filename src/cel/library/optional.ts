import type { Library } from "../environment.ts";
import { type Expr, operators, unusedVariableName } from "../syntax/ast.ts";
import { type MacroError, type MacroFactory, macroKey } from "../syntax/macros.ts";
import {
  anyOptionalType,
  boolType,
  dynType,
  intType,
  listOf,
  mapOf,
  optionalOf,
  paramOf,
  stringType,
} from "../types/cel-type.ts";
import { member, overload } from "../types/declarations.ts";
import { displayText } from "../values/conversion.ts";
import { ArrayList, itemsOf } from "../values/lists.ts";
import { unixSecondsMin } from "../values/time-text.ts";
import {
  Duration,
  EvaluationError,
  isError,
  List,
  noSuchOverload,
  Optional,
  type Result,
  Timestamp,
  Uint,
  type Value,
  ValueMap,
} from "../values/value.ts";

const key = paramOf("K");
const value = paramOf("V");
const optional = optionalOf(value);
const list = listOf(value);
const map = mapOf(key, value);
const listOfOptionals = listOf(optional);

/** Values that may be absent. */
export const optionalLibrary: Library = {
  types: [anyOptionalType],
  macros: new Map([
    [macroKey("optMap", 2, true), (make, target, args) => expandMap(make, target, args, "optMap")],
    [macroKey("optFlatMap", 2, true), (make, target, args) => expandMap(make, target, args, "optFlatMap")],
  ]),
  functions: [
    {
      name: "optional.of",
      overloads: [overload("optional_of", [value], optional, { unary: (content) => new Optional(content) })],
    },
    {
      name: "optional.ofNonZeroValue",
      overloads: [
        overload("optional_ofNonZeroValue", [value], optional, {
          unary: (content) => (isZero(content) ? Optional.none : new Optional(content)),
        }),
      ],
    },
    {
      name: "optional.none",
      overloads: [overload("optional_none", [], optional, { variadic: () => Optional.none })],
    },
    { name: "value", overloads: [member("optional_value", [optional], value, { unary: contentOf })] },
    {
      name: "hasValue",
      overloads: [
        member("optional_hasValue", [optional], boolType, {
          unary: (content) => (content instanceof Optional ? content.content !== undefined : noSuchOverload),
        }),
      ],
    },
    { name: "or", overloads: [member("optional_or_optional", [optional, optional], optional)] },
    { name: "orValue", overloads: [member("optional_orValue_value", [optional, value], value)] },
    {
      name: operators.optionalSelect,
      overloads: [overload("select_optional_field", [dynType, stringType], optional)],
    },
    {
      name: operators.optionalIndex,
      overloads: [
        overload("list_optindex_optional_int", [list, intType], optional),
        overload("optional_list_optindex_optional_int", [optionalOf(list), intType], optional),
        overload("map_optindex_optional_value", [map, key], optional),
        overload("optional_map_optindex_optional_value", [optionalOf(map), key], optional),
      ],
    },
    {
      name: operators.index,
      overloads: [
        overload("optional_list_index_int", [optionalOf(list), intType], optional),
        overload("optional_map_index_value", [optionalOf(map), key], optional),
      ],
    },
    { name: "last", overloads: [member("list_last", [list], optional, { unary: (items) => elementAt(items, -1) })] },
    { name: "first", overloads: [member("list_first", [list], optional, { unary: (items) => elementAt(items, 0) })] },
    {
      name: "optional.unwrap",
      overloads: [overload("optional_unwrap", [listOfOptionals], list, { unary: unwrap })],
    },
    { name: "unwrapOpt", overloads: [member("optional_unwrapOpt", [listOfOptionals], list, { unary: unwrap })] },
  ],
};

function contentOf(optionalValue: Value): Result {
  if (!(optionalValue instanceof Optional)) return noSuchOverload;
  return optionalValue.content === undefined
    ? new EvaluationError("optional.none() dereference")
    : optionalValue.content;
}

function isZero(content: Value): boolean {
  switch (typeof content) {
    case "string":
      return content === "";
    case "number":
    case "bigint":
      return content === 0 || content === 0n;
    case "boolean":
      return !content;
    default:
      return isZeroObject(content);
  }
}

function isZeroObject(content: Value): boolean {
  if (content === null) return true;
  if (content instanceof List || content instanceof ValueMap) return content.size === 0;
  if (content instanceof Uint) return content.value === 0n;
  if (content instanceof Uint8Array) return content.length === 0;
  if (content instanceof Duration) return content.nanos === 0n;
  // The zero of timestamps is the first of January of the year 1.
  return content instanceof Timestamp && content.nanos === unixSecondsMin * 1_000_000_000n;
}

function elementAt(items: Value, index: 0 | -1): Result {
  if (!(items instanceof List)) return noSuchOverload;
  if (items.size === 0) return Optional.none;
  const item = items.at(index === 0 ? 0 : items.size - 1);
  return isError(item) ? item : new Optional(item);
}

function unwrap(items: Value): Result {
  if (!(items instanceof List)) return noSuchOverload;
  const contents: Value[] = [];
  for (const item of itemsOf(items)) {
    if (!(item instanceof Optional)) {
      return isError(item) ? item : new EvaluationError(`value ${displayText(item)} is not optional`);
    }
    if (item.content !== undefined) contents.push(item.content);
  }
  return new ArrayList(contents);
}

/** `o.optMap(x, f)` is f of the content as an optional, `o.optFlatMap(x, f)` f itself, which is one. */
function expandMap(
  make: MacroFactory,
  target: Expr | undefined,
  [variable, transform]: readonly Expr[],
  name: "optMap" | "optFlatMap",
): Expr | MacroError | undefined {
  if (target === undefined || transform === undefined) return undefined;
  if (variable?.kind !== "ident") {
    return { offset: variable?.offset ?? -1, message: `${name}() variable name must be a simple identifier` };
  }
  const condition = make.memberCall("hasValue", target);
  const bound = make.fold({
    range: make.list(),
    iterVar: unusedVariableName,
    accuVar: variable.name,
    accuInit: make.memberCall("value", make.copy(target)),
    condition: make.literal(false),
    step: make.ident(variable.name),
    result: transform,
  });
  const present = name === "optMap" ? make.call("optional.of", bound) : bound;
  return make.call(operators.conditional, condition, present, make.call("optional.none"));
}
