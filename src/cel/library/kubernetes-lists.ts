import type { Library } from "../environment.ts";
import { spendWork } from "../limits.ts";
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  listOf,
  paramOf,
  stringType,
  timestampType,
  uintType,
} from "../types/cel-type.ts";
import { type FunctionDeclaration, member, type Unary } from "../types/declarations.ts";
import { add } from "../values/arithmetic.ts";
import { equalResults } from "../values/equality.ts";
import { itemsOf } from "../values/lists.ts";
import { compareValues, isOrdered, type Order } from "../values/ordering.ts";
import {
  Duration,
  EvaluationError,
  isError,
  List,
  noSuchOverload,
  type Result,
  Uint,
  type Value,
} from "../values/value.ts";

type NamedType = readonly [name: string, type: CelType];

const comparable: readonly NamedType[] = [
  ["int", intType],
  ["uint", uintType],
  ["double", doubleType],
  ["bool", boolType],
  ["duration", durationType],
  ["timestamp", timestampType],
  ["string", stringType],
  ["bytes", bytesType],
];
const summable: readonly (readonly [...NamedType, zero: Value])[] = [
  ["int", intType, 0n],
  ["uint", uintType, new Uint(0n)],
  ["double", doubleType, 0],
  ["duration", durationType, new Duration(0n)],
];
const a = paramOf("A");

/** `isSorted`, `sum`, `max`, `min`, `indexOf` and `lastIndexOf` of lists. */
export const kubernetesListsLibrary: Library = {
  functions: [
    {
      name: "isSorted",
      overloads: comparable.map(([name, type]) =>
        member(`list_${name}_is_sorted_bool`, [listOf(type)], boolType, { unary: isSorted }),
      ),
    },
    {
      name: "sum",
      overloads: summable.map(([name, type, zero]) =>
        member(`list_${name}_sum_${name}`, [listOf(type)], type, { unary: (list) => sum(list, zero) }),
      ),
    },
    extreme("max", -1),
    extreme("min", 1),
    {
      name: "indexOf",
      overloads: [
        member("list_a_index_of_int", [listOf(a), a], intType, { binary: (list, item) => indexOf(list, item, 1) }),
      ],
    },
    {
      name: "lastIndexOf",
      overloads: [
        member("list_a_last_index_of_int", [listOf(a), a], intType, {
          binary: (list, item) => indexOf(list, item, -1),
        }),
      ],
    },
  ],
};

function isSorted(list: Value): Result {
  if (!(list instanceof List)) return noSuchOverload;
  let previous: Value | undefined;
  for (const item of itemsOf(list)) {
    if (isError(item)) return item;
    if (!isOrdered(item)) return noSuchOverload;
    if (previous !== undefined && compareValues(previous, item) === 1) return false;
    previous = item;
  }
  return true;
}

function sum(list: Value, zero: Value): Result {
  if (!(list instanceof List)) return noSuchOverload;
  let total = zero;
  for (const item of itemsOf(list)) {
    if (isError(item)) return item;
    const next = add(total, item);
    if (isError(next)) return next;
    total = next;
  }
  return total;
}

/** Returns the first element that no other one is preferred to. */
function extreme(name: "max" | "min", replacedAt: Order): FunctionDeclaration {
  const unary: Unary = (list) => {
    if (!(list instanceof List)) return noSuchOverload;
    let best: Value | undefined;
    for (const item of itemsOf(list)) {
      if (isError(item)) return item;
      if (!isOrdered(item)) return noSuchOverload;
      if (best === undefined || compareValues(best, item) === replacedAt) best = item;
    }
    return best ?? new EvaluationError(`${name} called on empty list`);
  };
  return {
    name,
    overloads: comparable.map(([typeName, type]) =>
      member(`list_${typeName}_${name}_${typeName}`, [listOf(type)], type, { unary }),
    ),
  };
}

function indexOf(list: Value, item: Value, direction: 1 | -1): Result {
  if (!(list instanceof List)) return noSuchOverload;
  const start = direction === 1 ? 0 : list.size - 1;
  for (let at = start; at >= 0 && at < list.size; at += direction) {
    spendWork(1);
    if (equalResults(list.at(at), item) === true) return BigInt(at);
  }
  return -1n;
}
