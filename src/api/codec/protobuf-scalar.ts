import type { Writer } from "protobufjs/minimal.js";
import { formatGoDuration, parseGoDuration } from "../go-duration.ts";
import type { JsonValue } from "../json.ts";
import type { ScalarKind } from "../schema/schema.ts";
import { toText } from "./byte-text.ts";
import { JsonSyntaxError, parseJsonText, stringifyJson } from "./json.ts";
import { jsonExtent } from "./json-extent.ts";
import {
  int64Halves,
  ProtobufDecodeError,
  type ProtobufReader,
  type WireType,
  wireBytes,
  wireFixed64,
  wireVarint,
} from "./protobuf-wire.ts";

/** Writes and reads values of one type. The field writes the tag. */
export interface ValueCodec {
  readonly wireType: WireType;
  /** Value written for an absent field that is not a pointer; undefined if such a field is left out. */
  readonly zero: JsonValue | undefined;
  write(writer: Writer, value: JsonValue): void;
  /** Returns null for the zero value of a type whose zero value is null in JSON. */
  read(reader: ProtobufReader): JsonValue;
  /** Does the same, and yields now and then; absent if a value takes no time. */
  readInSteps?(reader: ProtobufReader): Generator<void, JsonValue>;
}

export const scalarCodecs: Readonly<Record<ScalarKind, ValueCodec>> = {
  string: {
    wireType: wireBytes,
    zero: "",
    write: (writer, value) => void writer.string(asText(value)),
    read: (reader) => reader.text(),
  },
  bool: {
    wireType: wireVarint,
    zero: false,
    write: (writer, value) => void writer.bool(asBool(value)),
    read: (reader) => reader.bool(),
  },
  int32: integer32("int32"),
  uint32: integer32("uint32"),
  uint8: integer32("uint32"),
  int64: integer64("int64"),
  uint64: integer64("uint64"),
  float64: {
    wireType: wireFixed64,
    zero: 0,
    write: (writer, value) => void writer.double(Number(asInteger(value))),
    read: (reader) => asFinite(reader.double()),
  },
  bytes: {
    wireType: wireBytes,
    zero: undefined,
    write: (writer, value) => void writer.bytes(Buffer.from(asText(value), "base64")),
    read: (reader) => Buffer.from(reader.bytes()).toString("base64"),
  },
  any: jsonInMessage(),
  rawExtension: jsonInMessage(),
  fieldsV1: jsonInMessage(),
  quantity: {
    wireType: wireBytes,
    zero: "0",
    write: (writer, value) => void writer.fork().uint32(tagOf(1, wireBytes)).string(String(value)).ldelim(),
    read: readQuantity,
  },
  intOrString: {
    wireType: wireBytes,
    zero: 0,
    write: writeIntOrString,
    read: readIntOrString,
  },
  time: { wireType: wireBytes, zero: null, write: writeTime, read: (reader) => readTimestamp(reader, secondsText) },
  microTime: {
    wireType: wireBytes,
    zero: null,
    write: writeMicroTime,
    read: (reader) => readTimestamp(reader, microsecondsText),
  },
  duration: { wireType: wireBytes, zero: "0s", write: writeDuration, read: readDuration },
};

export function tagOf(number: number, wireType: WireType): number {
  return ((number << 3) | wireType) >>> 0;
}

/** Limit of the fields in a small message that counts as one value: a map entry, or the parts of a scalar. */
const partsMax = 3;

/** Reads a small message. Fields that `take` does not consume are skipped. */
export function readFields(reader: ProtobufReader, take: (number: number, wireType: WireType) => boolean): void {
  const outerEnd = reader.enter();
  for (let fields = 1; !reader.atEnd; fields++) {
    if (fields > partsMax) reader.count();
    const { number, wireType } = reader.tag();
    if (!take(number, wireType)) reader.skip(wireType);
  }
  reader.leave(outerEnd);
}

/**
 * Checks the wire type of a known field.
 * @throws ProtobufDecodeError
 */
export function expectWireType(actual: WireType, expected: WireType): void {
  if (actual !== expected) throw new ProtobufDecodeError(`proto: wrong wireType = ${actual}, expected ${expected}`);
}

function integer32(method: "int32" | "uint32"): ValueCodec {
  return {
    wireType: wireVarint,
    zero: 0,
    write: (writer, value) => void writer[method](Number(asInteger(value))),
    read: (reader) => reader[method](),
  };
}

function integer64(method: "int64" | "uint64"): ValueCodec {
  return {
    wireType: wireVarint,
    zero: 0,
    write: (writer, value) => writeInt64(writer, asInteger(value)),
    read: (reader) => reader[method](),
  };
}

function writeInt64(writer: Writer, value: number | bigint): void {
  if (typeof value === "number" && value >= 0 && value < 2 ** 32) writer.uint32(value);
  else writer.int64(int64Halves(value) as unknown as number);
}

/** Returns the codec of `{raw=1}`, whose bytes are JSON text: RawExtension, FieldsV1, and JSON of apiextensions. */
function jsonInMessage(): ValueCodec {
  return {
    wireType: wireBytes,
    zero: null,
    write(writer, value) {
      writer.fork();
      if (value !== null) writer.uint32(tagOf(1, wireBytes)).bytes(Buffer.from(stringifyJson(value)));
      writer.ldelim();
    },
    read(reader) {
      let raw: Uint8Array | undefined;
      readFields(reader, (number, wireType) => {
        if (number !== 1) return false;
        expectWireType(wireType, wireBytes);
        raw = reader.bytes();
        return true;
      });
      return raw === undefined || raw.length === 0 ? null : parseRawJson(raw, reader);
    },
  };
}

/** The values of the text count among those of its message. */
function parseRawJson(raw: Uint8Array, reader: ProtobufReader): JsonValue {
  const text = toText(raw);
  const extent = jsonExtent(text);
  reader.count(extent.values);
  try {
    return parseJsonText(text, extent);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw new ProtobufDecodeError(`proto: raw value: ${error.message}`);
    throw error;
  }
}

function readQuantity(reader: ProtobufReader): JsonValue {
  let text = "";
  readFields(reader, (number, wireType) => {
    if (number !== 1) return false;
    expectWireType(wireType, wireBytes);
    text = reader.text();
    return true;
  });
  return text === "" ? "0" : text;
}

function writeIntOrString(writer: Writer, value: JsonValue): void {
  const isText = typeof value === "string";
  writer.fork();
  writer.uint32(tagOf(1, wireVarint)).uint32(isText ? 1 : 0);
  writer.uint32(tagOf(2, wireVarint)).int32(isText ? 0 : Number(asInteger(value)));
  writer.uint32(tagOf(3, wireBytes)).string(isText ? value : "");
  writer.ldelim();
}

function readIntOrString(reader: ProtobufReader): JsonValue {
  let isText = false;
  let number32 = 0;
  let text = "";
  readFields(reader, (number, wireType) => {
    if (number < 1 || number > 3) return false;
    expectWireType(wireType, number === 3 ? wireBytes : wireVarint);
    if (number === 1) isText = reader.int64() !== 0;
    else if (number === 2) number32 = reader.int32();
    else text = reader.text();
    return true;
  });
  return isText ? text : number32;
}

function writeTime(writer: Writer, value: JsonValue): void {
  writeTimestamp(writer, value, 0);
}

function writeMicroTime(writer: Writer, value: JsonValue): void {
  const fraction = typeof value === "string" ? (/\.(\d{1,6})/.exec(value)?.[1] ?? "") : "";
  writeTimestamp(writer, value, Number(fraction.padEnd(6, "0")) * 1_000);
}

/** The zero time is an empty message; any other has both fields. */
function writeTimestamp(writer: Writer, value: JsonValue, nanoseconds: number): void {
  writer.fork();
  if (value !== null) {
    const ms = Date.parse(asText(value));
    if (Number.isNaN(ms)) throw new Error(`protobuf: not a time: ${String(value)}`);
    writer.uint32(tagOf(1, wireVarint));
    writeInt64(writer, Math.floor(ms / 1_000));
    writer.uint32(tagOf(2, wireVarint)).int32(nanoseconds);
  }
  writer.ldelim();
}

const yearZeroSeconds = -62_167_219_200;
const yearTenThousandSeconds = 253_402_300_800;
const nanosecondsPerSecond = 1_000_000_000;

function readTimestamp(reader: ProtobufReader, text: (seconds: number, nanoseconds: number) => string): JsonValue {
  let seconds: number | bigint = 0;
  let nanoseconds = 0;
  readFields(reader, (number, wireType) => {
    if (number !== 1 && number !== 2) return false;
    expectWireType(wireType, wireVarint);
    if (number === 1) seconds = reader.int64();
    else nanoseconds = reader.int32();
    return true;
  });
  const wholeSeconds = Number(seconds);
  if (wholeSeconds === 0 && nanoseconds === 0) return null;
  if (wholeSeconds < yearZeroSeconds || wholeSeconds >= yearTenThousandSeconds) {
    throw new ProtobufDecodeError("proto: time outside of the years 0 to 9999");
  }
  if (nanoseconds < 0 || nanoseconds >= nanosecondsPerSecond)
    throw new ProtobufDecodeError("proto: nanos out of range");
  return text(wholeSeconds, nanoseconds);
}

function secondsText(seconds: number): string {
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
}

function microsecondsText(seconds: number, nanoseconds: number): string {
  const micros = String(Math.floor(nanoseconds / 1_000)).padStart(6, "0");
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}.${micros}Z`;
}

function writeDuration(writer: Writer, value: JsonValue): void {
  const nanoseconds = parseGoDuration(asText(value));
  if (nanoseconds === undefined) throw new Error(`protobuf: not a duration: ${String(value)}`);
  writer.fork().uint32(tagOf(1, wireVarint));
  writeInt64(writer, nanoseconds);
  writer.ldelim();
}

function readDuration(reader: ProtobufReader): JsonValue {
  let nanoseconds = 0n;
  readFields(reader, (number, wireType) => {
    if (number !== 1) return false;
    expectWireType(wireType, wireVarint);
    nanoseconds = BigInt(reader.int64());
    return true;
  });
  return formatGoDuration(nanoseconds);
}

function asFinite(value: number): number {
  if (!Number.isFinite(value)) throw new ProtobufDecodeError("proto: a double that JSON cannot hold");
  return value;
}

// Objects are validated before they are encoded, so a mismatch here is a bug of ours.
function asText(value: JsonValue): string {
  if (typeof value !== "string") throw new Error(`protobuf: expected text, got ${typeof value}`);
  return value;
}

function asBool(value: JsonValue): boolean {
  if (typeof value !== "boolean") throw new Error(`protobuf: expected a boolean, got ${typeof value}`);
  return value;
}

function asInteger(value: JsonValue): number | bigint {
  if (typeof value !== "number" && typeof value !== "bigint") {
    throw new Error(`protobuf: expected a number, got ${typeof value}`);
  }
  return value;
}
