import { spendWork } from "../limits.ts";
import { CelType } from "../types/cel-type.ts";
import { equalNumbers } from "./ordering.ts";
import {
  Duration,
  EvaluationError,
  isError,
  List,
  OpaqueValue,
  Optional,
  type Result,
  Timestamp,
  type Value,
  ValueMap,
} from "./value.ts";

/** Compares two values. Values of different types are unequal; only some library types make that an error. */
export function equalValues(a: Value, b: Value): boolean | EvaluationError {
  if (a === null || b === null) return a === b;
  switch (typeof a) {
    case "string":
    case "boolean":
      return a === b;
    case "bigint":
      return typeof b === "bigint" ? a === b : (equalNumbers(a, b) ?? false);
    case "number":
      return equalNumbers(a, b) ?? false;
    default:
      return equalObjects(a, b);
  }
}

/** Lists and maps that compare in a way of their own, because their schema says so. */
export interface ComparesItself {
  equalsValue(other: Value): boolean | EvaluationError;
}

function comparesItself(value: object): value is ComparesItself {
  return "equalsValue" in value;
}

function equalObjects(
  a: Exclude<Value, string | boolean | bigint | number | null>,
  b: Value,
): boolean | EvaluationError {
  if (comparesItself(a)) return a.equalsValue(b);
  if (a instanceof List) return b instanceof List ? equalLists(a, b) : false;
  if (a instanceof ValueMap) return b instanceof ValueMap ? equalMaps(a, b) : false;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanos === b.nanos;
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Optional) return b instanceof Optional ? equalOptionals(a, b) : false;
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name;
  if (a instanceof OpaqueValue) return asTruth(a.equals(b));
  return equalNumbers(a, b) ?? false;
}

function asTruth(result: Result): boolean | EvaluationError {
  return isError(result) ? result : result === true;
}

/** Errors of single elements do not make lists unequal. */
function equalLists(a: List, b: List): boolean {
  if (a.size !== b.size) return false;
  for (let at = 0; at < a.size; at++) {
    spendWork(1);
    if (equalResults(a.at(at), b.at(at)) === false) return false;
  }
  return true;
}

function equalMaps(a: ValueMap, b: ValueMap): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    spendWork(1);
    const other = b.find(key);
    if (other === undefined) return false;
    const mine = a.find(key);
    if (mine !== undefined && equalResults(mine, other) === false) return false;
  }
  return true;
}

/** Compares elements, of which either may be an error. */
export function equalResults(a: Result, b: Result): boolean | EvaluationError {
  if (isError(a)) return a;
  return isError(b) ? false : equalValues(a, b);
}

function equalOptionals(a: Optional, b: Optional): boolean | EvaluationError {
  if (a.content === undefined || b.content === undefined) return a.content === b.content;
  return a.content === null ? b.content === null : equalValues(a.content, b.content);
}
