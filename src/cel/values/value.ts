import {
  anyListType,
  anyMapType,
  anyOptionalType,
  boolType,
  bytesType,
  CelType,
  doubleType,
  durationType,
  intType,
  nullType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from "../types/cel-type.ts";

/**
 * A value while an expression is evaluated. The type of a scalar is that of its representation: bigint is int, number is
 * double, Uint8Array is bytes.
 */
export type Value =
  | boolean
  | bigint
  | number
  | string
  | null
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | List
  | ValueMap
  | Optional
  | OpaqueValue
  | CelType;

/** The result of an evaluation. Errors are values: `false && error` is false. */
export type Result = Value | EvaluationError;

export class EvaluationError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

export class Timestamp {
  /** Nanoseconds since 1970. */
  readonly nanos: bigint;
  /** How far the zone that it was written in is ahead of UTC. Only its text shows it. */
  readonly zoneMinutes: number;

  constructor(nanos: bigint, zoneMinutes = 0) {
    this.nanos = nanos;
    this.zoneMinutes = zoneMinutes;
  }
}

export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A value, or none. */
export class Optional {
  static readonly none = new Optional(undefined);
  readonly content: Value | undefined;

  constructor(content: Value | undefined) {
    this.content = content;
  }
}

/** A list, which may be a view of a JSON document. */
export abstract class List {
  abstract readonly size: number;
  /** Returns the element at an index that is within bounds. */
  abstract at(index: number): Result;
  /** Returns the list followed by another one. */
  abstract concat(other: List): Result;
}

/** A map, which may be a view of a JSON document. */
export abstract class ValueMap {
  abstract readonly size: number;
  /** Returns the value of a key; undefined if there is none. */
  abstract find(key: Value): Result | undefined;
  abstract keys(): Iterable<Value>;
}

/** A value of a library: url, quantity, authorizer. Only the library looks inside. */
export abstract class OpaqueValue {
  abstract readonly type: CelType;
  abstract equals(other: Value): Result;
  /** The size that comparisons and calls are charged for. */
  get costSize(): number {
    return 1;
  }
}

export function isError(result: Result): result is EvaluationError {
  return result instanceof EvaluationError;
}

export const noSuchOverload = new EvaluationError("no such overload");

/** Returns the type of a value at run time; those of lists, maps and optionals have no parameters. */
export function typeOfValue(value: Value): CelType {
  switch (typeof value) {
    case "string":
      return stringType;
    case "bigint":
      return intType;
    case "number":
      return doubleType;
    case "boolean":
      return boolType;
    default:
      return typeOfObject(value);
  }
}

function typeOfObject(value: Exclude<Value, string | bigint | number | boolean>): CelType {
  if (value === null) return nullType;
  if (value instanceof List) return anyListType;
  if (value instanceof ValueMap) return anyMapType;
  if (value instanceof Uint) return uintType;
  if (value instanceof Duration) return durationType;
  if (value instanceof Timestamp) return timestampType;
  if (value instanceof Uint8Array) return bytesType;
  if (value instanceof Optional) return anyOptionalType;
  if (value instanceof CelType) return typeType;
  return value.type;
}
