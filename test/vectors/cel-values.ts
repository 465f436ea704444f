import { CidrValue } from "../../src/cel/library/cidr.ts";
import { FormatValue } from "../../src/cel/library/format.ts";
import { IpValue } from "../../src/cel/library/ip.ts";
import { QuantityValue } from "../../src/cel/library/quantity.ts";
import { SemverValue } from "../../src/cel/library/semver.ts";
import { UrlValue } from "../../src/cel/library/url.ts";
import {
  anyListType,
  anyMapType,
  anyOptionalType,
  boolType,
  bytesType,
  CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  opaqueOf,
  optionalOf,
  paramOf,
  stringType,
  structOf,
  timestampType,
  typeType,
  uintType,
} from "../../src/cel/types/cel-type.ts";
import { jsonValue } from "../../src/cel/values/json-value.ts";
import { ArrayList, itemsOf } from "../../src/cel/values/lists.ts";
import { EntryMap, entriesOf } from "../../src/cel/values/maps.ts";
import { formatTimestamp, parseTimestamp } from "../../src/cel/values/time-text.ts";
import {
  Duration,
  isError,
  List,
  Optional,
  type Result,
  Timestamp,
  typeOfValue,
  Uint,
  type Value,
  ValueMap,
} from "../../src/cel/values/value.ts";

/** A value as the vectors write it: the single key names the type, and numbers are texts. */
export interface WrittenValue {
  readonly int?: string;
  readonly uint?: string;
  readonly double?: string;
  readonly string?: string;
  readonly bytes?: string;
  readonly bool?: boolean;
  readonly null?: null;
  readonly list?: readonly WrittenValue[];
  readonly map?: readonly (readonly [WrittenValue, WrittenValue])[];
  readonly duration?: string;
  readonly timestamp?: string;
  readonly type?: string;
  readonly optional?: WrittenValue | null;
  readonly quantity?: string;
  readonly url?: string;
  readonly ip?: string;
  readonly cidr?: string;
  readonly semver?: string;
  readonly format?: string;
  readonly object?: string;
}

const types: ReadonlyMap<string, CelType> = new Map<string, CelType>([
  ...[
    boolType,
    bytesType,
    doubleType,
    durationType,
    intType,
    nullType,
    stringType,
    timestampType,
    typeType,
    uintType,
  ].map((type) => [type.name, type] as const),
  ["dyn", dynType],
  ["list", anyListType],
  ["map", anyMapType],
  ["null", nullType],
  ["optional_type", anyOptionalType],
]);

/** Parses `map(string, list(int))`. */
export function readType(text: string): CelType {
  const known = types.get(text);
  if (known !== undefined) return known;
  const open = text.indexOf("(");
  if (open < 0) return structOf(text);
  const [first = "", second = ""] = splitArguments(text.slice(open + 1, -1));
  switch (text.slice(0, open)) {
    case "list":
      return listOf(readType(first));
    case "map":
      return mapOf(readType(first), readType(second));
    case "wrapper":
      return new CelType(readType(first).kind, readType(first).name, [], true);
    case "optional_type":
      return optionalOf(readType(first));
    default:
      throw new Error(`unknown type ${text}`);
  }
}

/** A type in the notation of function declarations. */
export interface DeclaredType {
  readonly primitive?: string;
  readonly typeParam?: string;
  readonly abstractType?: { readonly name: string; readonly parameterTypes?: readonly DeclaredType[] };
}

const primitives: ReadonlyMap<string, CelType> = new Map([
  ["BOOL", boolType],
  ["INT64", intType],
  ["UINT64", uintType],
  ["DOUBLE", doubleType],
  ["STRING", stringType],
  ["BYTES", bytesType],
]);

export function readDeclaredType({ primitive, typeParam, abstractType }: DeclaredType): CelType {
  if (typeParam !== undefined) return paramOf(typeParam);
  if (abstractType !== undefined) {
    return opaqueOf(abstractType.name, ...(abstractType.parameterTypes ?? []).map(readDeclaredType));
  }
  return primitives.get(primitive ?? "") ?? dynType;
}

function splitArguments(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "(") depth++;
    else if (text[at] === ")") depth--;
    else if (text[at] === "," && depth === 0) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  return [...parts, text.slice(start).trim()];
}

export function readValue(written: WrittenValue): Value {
  if (written.int !== undefined) return BigInt(written.int);
  if (written.uint !== undefined) return new Uint(BigInt(written.uint));
  if (written.double !== undefined) return Number(written.double);
  if (written.string !== undefined) return written.string;
  if (written.bytes !== undefined) return new Uint8Array(Buffer.from(written.bytes, "base64"));
  if (written.bool !== undefined) return written.bool;
  if (written.list !== undefined) return new ArrayList(written.list.map(readValue));
  if (written.map !== undefined) {
    return new EntryMap(written.map.map(([key, value]) => [readValue(key), readValue(value)] as const));
  }
  if (written.duration !== undefined) return new Duration(BigInt(written.duration));
  if (written.timestamp !== undefined) return new Timestamp(parseTimestamp(written.timestamp)?.nanos ?? 0n);
  if (written.type !== undefined) return readType(written.type);
  if (written.optional !== undefined) {
    return written.optional === null ? Optional.none : new Optional(readValue(written.optional));
  }
  return jsonValue(null);
}

export function writeValue(value: Result): WrittenValue {
  if (isError(value)) return { string: `error: ${value.message}` };
  if (value === null) return { null: null };
  switch (typeof value) {
    case "bigint":
      return { int: String(value) };
    case "number":
      return { double: Object.is(value, -0) ? "-0" : String(value) };
    case "string":
      return { string: value };
    case "boolean":
      return { bool: value };
    default:
      return writeObject(value);
  }
}

function writeObject(value: Exclude<Value, bigint | number | string | boolean | null>): WrittenValue {
  if (value instanceof Uint) return { uint: String(value.value) };
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("base64") };
  if (value instanceof List) return { list: [...itemsOf(value)].map(writeValue) };
  if (value instanceof ValueMap) {
    return { map: [...entriesOf(value)].map(([key, item]) => [writeValue(key), writeValue(item)] as const) };
  }
  if (value instanceof Duration) return { duration: String(value.nanos) };
  if (value instanceof Timestamp) return { timestamp: formatTimestamp({ nanos: value.nanos, zoneMinutes: 0 }) };
  if (value instanceof CelType) return { type: value.name };
  if (value instanceof Optional) return { optional: value.content === undefined ? null : writeValue(value.content) };
  if (value instanceof QuantityValue && !value.isComputed) return { quantity: value.text };
  if (value instanceof UrlValue) return { url: value.text };
  if (value instanceof IpValue) return { ip: value.text };
  if (value instanceof CidrValue) return { cidr: value.text };
  if (value instanceof SemverValue) return { semver: value.text };
  if (value instanceof FormatValue) return { format: value.name };
  return { object: typeOfValue(value).name };
}

/** Returns a text that is the same for equal values: entries of maps have no order. */
export function canonicalText(written: WrittenValue, ignoresListOrder = false): string {
  const text = (value: WrittenValue) => canonicalText(value, ignoresListOrder);
  if (written.map !== undefined) {
    return `map{${written.map
      .map(([key, value]) => `${text(key)}:${text(value)}`)
      .sort()
      .join(",")}}`;
  }
  if (written.list !== undefined) {
    const items = written.list.map(text);
    return `list[${(ignoresListOrder ? items.sort() : items).join(",")}]`;
  }
  if (written.optional !== undefined) return `optional(${written.optional === null ? "" : text(written.optional)})`;
  if (written.double !== undefined) return `double ${Number(written.double)}${written.double === "-0" ? "-" : ""}`;
  return JSON.stringify(written);
}
