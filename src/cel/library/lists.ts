import type { Library } from "../environment.ts";
import { spendWork } from "../limits.ts";
import { type Expr, unusedVariableName } from "../syntax/ast.ts";
import { expandMap, type MacroError, type MacroFactory, macroKey } from "../syntax/macros.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  paramOf,
  stringType,
  timestampType,
  uintType,
} from "../types/cel-type.ts";
import { member, overload } from "../types/declarations.ts";
import { equalResults } from "../values/equality.ts";
import { ArrayList, emptyList, itemsOf } from "../values/lists.ts";
import { compareValues, isOrdered } from "../values/ordering.ts";
import {
  EvaluationError,
  isError,
  List,
  noSuchOverload,
  type Result,
  typeOfValue,
  type Value,
} from "../values/value.ts";

const list = listOf(paramOf("T"));
const comparable: readonly CelType[] = [
  intType,
  uintType,
  doubleType,
  boolType,
  durationType,
  timestampType,
  stringType,
  bytesType,
];
const sortInputName = "@__sortBy_input__";

/** `slice`, `flatten`, `distinct`, `reverse`, `sort`, `sortBy` and `lists.range`. */
export const listsLibrary: Library = {
  macros: new Map([[macroKey("sortBy", 2, true), expandSortBy]]),
  functions: [
    {
      name: "slice",
      overloads: [
        member("list_slice", [list, intType, intType], list, {
          variadic: ([items = null, start = null, end = null]) => slice(items, start, end),
        }),
      ],
    },
    {
      name: "flatten",
      overloads: [
        member("list_flatten", [listOf(list)], list, { unary: (items) => flatten(items, 1n) }),
        member("list_flatten_int", [listOf(dynType), intType], listOf(dynType), { binary: flatten }),
      ],
      unguarded: true,
    },
    {
      name: "sort",
      overloads: comparable.map((type) => member(`list_${type.name}_sort`, [listOf(type)], listOf(type))),
      shared: { unary: (items) => sortByKeys(items, items), trait: "lists" },
    },
    {
      name: "@sortByAssociatedKeys",
      overloads: comparable.map((type) => member(`list_${type.name}_sortByAssociatedKeys`, [list, listOf(type)], list)),
      shared: { binary: sortByKeys, trait: "lists" },
    },
    { name: "lists.range", overloads: [overload("lists_range", [intType], listOf(intType), { unary: range })] },
    { name: "reverse", overloads: [member("list_reverse", [list], list, { unary: reverse })] },
    { name: "distinct", overloads: [member("list_distinct", [list], list, { unary: distinct })] },
  ],
};

function slice(items: Value, start: Value, end: Value): Result {
  if (!(items instanceof List) || typeof start !== "bigint" || typeof end !== "bigint") return noSuchOverload;
  const problem =
    start < 0n || end < 0n
      ? "negative indexes not supported"
      : start > end
        ? "start index must be less than or equal to end index"
        : end > items.size
          ? `list is length ${items.size}`
          : undefined;
  if (problem !== undefined) return new EvaluationError(`cannot slice(${start}, ${end}), ${problem}`);
  spendWork(Number(end - start));
  const part: Result[] = [];
  for (let at = Number(start); at < Number(end); at++) part.push(items.at(at));
  return new ArrayList(part);
}

function flatten(items: Value, depth: Value): Result {
  if (!(items instanceof List) || typeof depth !== "bigint") return noSuchOverload;
  if (depth < 0n) return new EvaluationError("level must be non-negative");
  const flat: Result[] = [];
  flattenInto(flat, items, depth);
  return new ArrayList(flat);
}

function flattenInto(flat: Result[], items: List, depth: bigint): void {
  for (const item of itemsOf(items)) {
    spendWork(4);
    if (item instanceof List && depth > 0n) flattenInto(flat, item, depth - 1n);
    else flat.push(item);
  }
}

function sortByKeys(items: Value, keys: Value): Result {
  if (!(items instanceof List) || !(keys instanceof List)) return noSuchOverload;
  if (items.size !== keys.size) {
    const problem = "expected a list of the same size as the associated keys list, but got";
    return new EvaluationError(
      `@sortByAssociatedKeys() ${problem} ${items.size} and ${keys.size} elements respectively`,
    );
  }
  const [first] = itemsOf(keys);
  if (first === undefined) return items;
  if (isError(first) || !isOrdered(first)) return new EvaluationError("list elements must be comparable");
  spendWork(keys.size * Math.ceil(Math.log2(keys.size + 1)));
  return sorted(items, keys, typeOfValue(first).name);
}

function sorted(items: List, keys: List, keyType: string): Result {
  const pairs: { readonly key: Value; readonly item: Result }[] = [];
  for (let at = 0; at < items.size; at++) {
    const key = keys.at(at);
    if ((isError(key) || typeOfValue(key).name !== keyType) && items.size > 1) {
      return new EvaluationError("list elements must have the same type");
    }
    pairs.push({ key: isError(key) ? null : key, item: items.at(at) });
  }
  pairs.sort((a, b) => {
    const order = compareValues(a.key, b.key);
    return typeof order === "number" ? order : 0;
  });
  return new ArrayList(pairs.map(({ item }) => item));
}

function range(end: Value): Result {
  if (typeof end !== "bigint") return noSuchOverload;
  if (end <= 0n) return emptyList;
  spendWork(Number(end));
  return new ArrayList(Array.from({ length: Number(end) }, (_, at) => BigInt(at)));
}

function reverse(items: Value): Result {
  if (!(items instanceof List)) return noSuchOverload;
  spendWork(items.size);
  return new ArrayList([...itemsOf(items)].reverse());
}

/** Keeps the first of equal elements. Texts and whole numbers are found in a set, other values by comparison. */
function distinct(items: Value): Result {
  if (!(items instanceof List)) return noSuchOverload;
  const texts = new Set<string>();
  const kept: Result[] = [];
  for (const item of itemsOf(items)) {
    spendWork(1);
    if (typeof item === "string") {
      if (texts.has(item)) continue;
      texts.add(item);
    } else if (kept.some((other) => isSame(item, other))) continue;
    kept.push(item);
  }
  return new ArrayList(kept);
}

function isSame(a: Result, b: Result): boolean {
  spendWork(1);
  return equalResults(a, b) === true;
}

/** Binds the list to a name, and sorts it by the list of keys. */
function expandSortBy(
  make: MacroFactory,
  target: Expr | undefined,
  args: readonly Expr[],
): Expr | MacroError | undefined {
  if (target === undefined) return undefined;
  const input = make.ident(sortInputName);
  if (!["list", "select", "ident", "fold", "call"].includes(target.kind)) {
    const message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
    return { offset: target.offset, message };
  }
  const keys = expandMap(make, make.copy(input), args);
  if (keys === undefined || "message" in keys) return keys;
  const result = make.memberCall("@sortByAssociatedKeys", make.copy(input), keys);
  return make.fold({
    range: make.list(),
    iterVar: unusedVariableName,
    accuVar: sortInputName,
    accuInit: target,
    condition: make.literal(false),
    step: input,
    result,
  });
}
