import { spendWork } from "../limits.ts";
import { floorDivide, unixSecondsMax, unixSecondsMin } from "./time-text.ts";
import { Duration, EvaluationError, List, noSuchOverload, type Result, Timestamp, Uint, type Value } from "./value.ts";

const intMin = -(2n ** 63n);
const intMax = 2n ** 63n - 1n;
const uintMax = 2n ** 64n - 1n;
const nanosPerSecond = 1_000_000_000n;

export const intOverflow = new EvaluationError("integer overflow");
export const uintOverflow = new EvaluationError("unsigned integer overflow");
const divisionByZero = new EvaluationError("division by zero");
const modulusByZero = new EvaluationError("modulus by zero");
export const timestampOverflow = new EvaluationError("timestamp overflow");

export function checkedInt(value: bigint): Result {
  return value < intMin || value > intMax ? intOverflow : value;
}

export function checkedUint(value: bigint): Result {
  return value < 0n || value > uintMax ? uintOverflow : new Uint(value);
}

function checkedDuration(nanos: bigint): Result {
  return nanos < intMin || nanos > intMax ? intOverflow : new Duration(nanos);
}

export function checkedTimestamp(nanos: bigint, zoneMinutes = 0): Result {
  const seconds = floorDivide(nanos, nanosPerSecond);
  return seconds < unixSecondsMin || seconds > unixSecondsMax ? timestampOverflow : new Timestamp(nanos, zoneMinutes);
}

export function add(a: Value, b: Value): Result {
  if (typeof a === "bigint") return typeof b === "bigint" ? checkedInt(a + b) : noSuchOverload;
  if (typeof a === "string") return typeof b === "string" ? a + b : noSuchOverload;
  if (typeof a === "number") return typeof b === "number" ? a + b : noSuchOverload;
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value + b.value) : noSuchOverload;
  if (a instanceof List) return b instanceof List ? a.concat(b) : noSuchOverload;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? joinBytes(a, b) : noSuchOverload;
  if (a instanceof Duration) {
    if (b instanceof Duration) return checkedDuration(a.nanos + b.nanos);
    return b instanceof Timestamp ? checkedTimestamp(a.nanos + b.nanos, b.zoneMinutes) : noSuchOverload;
  }
  if (a instanceof Timestamp && b instanceof Duration) return checkedTimestamp(a.nanos + b.nanos, a.zoneMinutes);
  return noSuchOverload;
}

function joinBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  spendWork((a.length + b.length) / 8);
  return Buffer.concat([a, b]);
}

export function subtract(a: Value, b: Value): Result {
  if (typeof a === "bigint") return typeof b === "bigint" ? checkedInt(a - b) : noSuchOverload;
  if (typeof a === "number") return typeof b === "number" ? a - b : noSuchOverload;
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value - b.value) : noSuchOverload;
  if (a instanceof Duration) return b instanceof Duration ? checkedDuration(a.nanos - b.nanos) : noSuchOverload;
  if (!(a instanceof Timestamp)) return noSuchOverload;
  if (b instanceof Timestamp) return checkedDuration(a.nanos - b.nanos);
  if (!(b instanceof Duration)) return noSuchOverload;
  return b.nanos === intMin ? intOverflow : checkedTimestamp(a.nanos - b.nanos, a.zoneMinutes);
}

export function multiply(a: Value, b: Value): Result {
  if (typeof a === "bigint") return typeof b === "bigint" ? checkedInt(a * b) : noSuchOverload;
  if (typeof a === "number") return typeof b === "number" ? a * b : noSuchOverload;
  if (a instanceof Uint) return b instanceof Uint ? checkedUint(a.value * b.value) : noSuchOverload;
  return noSuchOverload;
}

export function divide(a: Value, b: Value): Result {
  if (typeof a === "number") return typeof b === "number" ? a / b : noSuchOverload;
  if (typeof a === "bigint") {
    if (typeof b !== "bigint") return noSuchOverload;
    return b === 0n ? divisionByZero : checkedInt(a / b);
  }
  if (!(a instanceof Uint) || !(b instanceof Uint)) return noSuchOverload;
  return b.value === 0n ? divisionByZero : new Uint(a.value / b.value);
}

export function modulo(a: Value, b: Value): Result {
  if (typeof a === "bigint") {
    if (typeof b !== "bigint") return noSuchOverload;
    if (b === 0n) return modulusByZero;
    return a === intMin && b === -1n ? intOverflow : a % b;
  }
  if (!(a instanceof Uint) || !(b instanceof Uint)) return noSuchOverload;
  return b.value === 0n ? modulusByZero : new Uint(a.value % b.value);
}

export function negate(value: Value): Result {
  if (typeof value === "bigint") return checkedInt(-value);
  if (typeof value === "number") return -value;
  if (value instanceof Duration) return checkedDuration(-value.nanos);
  return noSuchOverload;
}
