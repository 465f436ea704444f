import { compareTexts } from "../../api/code-points.ts";
import { Duration, EvaluationError, noSuchOverload, type Result, Timestamp, Uint, type Value } from "./value.ts";

export type Order = -1 | 0 | 1;

const intMin = -(2 ** 63);
const intMax = 2 ** 63;
const uintMax = 2 ** 64;
const signedMax = 2n ** 63n - 1n;
const notOrdered = new EvaluationError("NaN values cannot be ordered");

/** Reports whether values of this type have an order. */
export function isOrdered(value: Value): boolean {
  if (typeof value !== "object") return true;
  return (
    value instanceof Uint || value instanceof Duration || value instanceof Timestamp || value instanceof Uint8Array
  );
}

/** Compares two ordered values; numbers compare across their types. */
export function compareValues(a: Value, b: Value): Order | EvaluationError {
  switch (typeof a) {
    case "bigint":
      return compareInt(a, b);
    case "number":
      return compareDouble(a, b);
    case "string":
      return typeof b === "string" ? compareTexts(a, b) : noSuchOverload;
    case "boolean":
      return typeof b === "boolean" ? orderOf(Number(a), Number(b)) : noSuchOverload;
    default:
      return compareObjects(a, b);
  }
}

function compareObjects(a: Value, b: Value): Order | EvaluationError {
  if (a instanceof Uint) return compareUint(a.value, b);
  if (a instanceof Duration && b instanceof Duration) return orderOf(a.nanos, b.nanos);
  if (a instanceof Timestamp && b instanceof Timestamp) return orderOf(a.nanos, b.nanos);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  return noSuchOverload;
}

function compareInt(a: bigint, b: Value): Order | EvaluationError {
  if (typeof b === "bigint") return orderOf(a, b);
  if (typeof b === "number") return Number.isNaN(b) ? notOrdered : reversed(doubleToInt(b, a));
  return b instanceof Uint ? intToUint(a, b.value) : noSuchOverload;
}

function compareUint(a: bigint, b: Value): Order | EvaluationError {
  if (b instanceof Uint) return orderOf(a, b.value);
  if (typeof b === "number") return Number.isNaN(b) ? notOrdered : reversed(doubleToUint(b, a));
  return typeof b === "bigint" ? reversed(intToUint(b, a)) : noSuchOverload;
}

function compareDouble(a: number, b: Value): Order | EvaluationError {
  if (Number.isNaN(a)) return notOrdered;
  if (typeof b === "number") return Number.isNaN(b) ? notOrdered : orderOf(a, b);
  if (typeof b === "bigint") return doubleToInt(a, b);
  return b instanceof Uint ? doubleToUint(a, b.value) : noSuchOverload;
}

function orderOf<T extends number | bigint>(a: T, b: T): Order {
  if (a === b) return 0;
  return a < b ? -1 : a > b ? 1 : 0;
}

function reversed(order: Order): Order {
  return order === 0 ? 0 : order === 1 ? -1 : 1;
}

function doubleToInt(double: number, int: bigint): Order {
  if (double < intMin) return -1;
  return double > intMax ? 1 : orderOf(double, Number(int));
}

function doubleToUint(double: number, uint: bigint): Order {
  if (double < 0) return -1;
  return double > uintMax ? 1 : orderOf(double, Number(uint));
}

function intToUint(int: bigint, uint: bigint): Order {
  if (int < 0n || uint > signedMax) return -1;
  return orderOf(int, uint);
}

/** Returns whether two numbers of any numeric types are equal; undefined if one of them is not a number. */
export function equalNumbers(a: Value, b: Value): boolean | undefined {
  if (!isNumber(a) || !isNumber(b)) return undefined;
  return compareValues(a, b) === 0;
}

function isNumber(value: Value): boolean {
  return typeof value === "bigint" || typeof value === "number" || value instanceof Uint;
}

/** Makes the result of `<` and its kin from an order. */
export function orderResult(a: Value, b: Value, holds: (order: Order) => boolean): Result {
  const order = compareValues(a, b);
  return typeof order === "number" ? holds(order) : order;
}
