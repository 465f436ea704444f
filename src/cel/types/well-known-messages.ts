import { emptyList } from "../values/lists.ts";
import { emptyMap } from "../values/maps.ts";
import { Duration, EvaluationError, type Result, Timestamp, Uint, type Value } from "../values/value.ts";
import {
  anyType,
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullableOf,
  stringType,
  timestampType,
  uintType,
} from "./cel-type.ts";

interface Message {
  readonly type: CelType;
  readonly fields: ReadonlyMap<string, CelType>;
  readonly construct: (fields: ReadonlyMap<string, Value>) => Result;
}

const prefix = "google.protobuf.";
const jsonMap = mapOf(stringType, dynType);
const jsonList = listOf(dynType);

function wrapper(type: CelType, zero: Value): Message {
  return {
    type: nullableOf(type),
    fields: new Map([["value", type]]),
    construct: (fields) => fields.get("value") ?? zero,
  };
}

function toInt32(value: Value): Result {
  const fits = typeof value !== "bigint" || BigInt.asIntN(32, value) === value;
  return fits ? value : conversionError("Int32Value", "integer overflow");
}

function toUint32(value: Value = new Uint(0n)): Result {
  const fits = !(value instanceof Uint) || BigInt.asUintN(32, value.value) === value.value;
  return fits ? value : conversionError("UInt32Value", "unsigned integer overflow");
}

function conversionError(name: string, problem: string): EvaluationError {
  return new EvaluationError(`field type conversion error for ${prefix}${name}.value value type: ${problem}`);
}

const timeFields = new Map([
  ["seconds", intType],
  ["nanos", intType],
]);

function nanosOf(fields: ReadonlyMap<string, Value>): bigint {
  const part = (name: string) => {
    const value = fields.get(name);
    return typeof value === "bigint" ? value : 0n;
  };
  return part("seconds") * 1_000_000_000n + part("nanos");
}

/** Protobuf messages that represent values of the language. */
const messages: ReadonlyMap<string, Message> = new Map<string, Message>([
  ["BoolValue", wrapper(boolType, false)],
  ["BytesValue", wrapper(bytesType, new Uint8Array())],
  ["DoubleValue", wrapper(doubleType, 0)],
  ["FloatValue", { ...wrapper(doubleType, 0), construct: (fields) => toFloat(fields.get("value") ?? 0) }],
  ["Int32Value", { ...wrapper(intType, 0n), construct: (fields) => toInt32(fields.get("value") ?? 0n) }],
  ["Int64Value", wrapper(intType, 0n)],
  ["UInt32Value", { ...wrapper(uintType, new Uint(0n)), construct: (fields) => toUint32(fields.get("value")) }],
  ["UInt64Value", wrapper(uintType, new Uint(0n))],
  ["StringValue", wrapper(stringType, "")],
  ["Duration", { type: durationType, fields: timeFields, construct: (fields) => new Duration(nanosOf(fields)) }],
  ["Timestamp", { type: timestampType, fields: timeFields, construct: (fields) => new Timestamp(nanosOf(fields)) }],
  [
    "Value",
    {
      type: dynType,
      fields: new Map([
        ["null_value", intType],
        ["number_value", doubleType],
        ["string_value", stringType],
        ["bool_value", boolType],
        ["struct_value", jsonMap],
        ["list_value", jsonList],
      ]),
      construct: valueOf,
    },
  ],
  [
    "Struct",
    {
      type: jsonMap,
      fields: new Map([["fields", jsonMap]]),
      construct: (fields) => fields.get("fields") ?? emptyMap,
    },
  ],
  [
    "ListValue",
    {
      type: jsonList,
      fields: new Map([["values", jsonList]]),
      construct: (fields) => fields.get("values") ?? emptyList,
    },
  ],
  [
    "Any",
    {
      type: anyType,
      fields: new Map<string, CelType>([
        ["type_url", stringType],
        ["value", bytesType],
      ]),
      construct: () => new EvaluationError("conversion error: got Any with empty type-url"),
    },
  ],
]);

function toFloat(value: Value): Value {
  return typeof value === "number" ? Math.fround(value) : value;
}

function valueOf(fields: ReadonlyMap<string, Value>): Result {
  for (const [name, value] of fields) return name === "null_value" ? null : value;
  return null;
}

export function wellKnownMessage(name: string): CelType | undefined {
  return name.startsWith(prefix) ? messages.get(name.slice(prefix.length))?.type : undefined;
}

export function wellKnownField(name: string, field: string): CelType | undefined {
  return messages.get(name.slice(prefix.length))?.fields.get(field);
}

/** Makes the value that a message represents; undefined for an unknown name. */
export function constructWellKnown(name: string, fields: ReadonlyMap<string, Value>): Result | undefined {
  return name.startsWith(prefix) ? messages.get(name.slice(prefix.length))?.construct(fields) : undefined;
}

/** Returns the name of the message that represents a type. Its fields are those of the type. */
export function messageNameOf(type: CelType): string | undefined {
  switch (type.kind) {
    case "any":
      return `${prefix}Any`;
    case "timestamp":
      return `${prefix}Timestamp`;
    case "duration":
      return `${prefix}Duration`;
    case "dyn":
      return `${prefix}Value`;
    case "null":
      return `${prefix}NullValue`;
    case "bool":
      return type.nullable ? `${prefix}BoolValue` : undefined;
    case "bytes":
      return type.nullable ? `${prefix}BytesValue` : undefined;
    case "double":
      return type.nullable ? `${prefix}DoubleValue` : undefined;
    case "int":
      return type.nullable ? `${prefix}Int64Value` : undefined;
    case "string":
      return type.nullable ? `${prefix}StringValue` : undefined;
    case "uint":
      return type.nullable ? `${prefix}UInt64Value` : undefined;
    case "list":
      return type.first.kind === "dyn" ? `${prefix}ListValue` : undefined;
    case "map":
      return type.first.kind === "string" && type.second.kind === "dyn" ? `${prefix}Struct` : undefined;
    default:
      return undefined;
  }
}
