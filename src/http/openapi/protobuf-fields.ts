import type { Writer } from "protobufjs/minimal.js";
import { stringifyJson } from "../../api/codec/json.ts";
import { isJsonObject, type JsonValue } from "../../api/json.ts";

/** Writes a value as the content of a message, or with the tag of its field before it. */
export type Write = (writer: Writer, value: JsonValue) => void;
/** The fields of a message by key of the document: their numbers, and how to write them. */
export type Fields = Readonly<Record<string, readonly [number: number, write: (number: number) => Write]>>;

export const bytesType = 2;
export const varintType = 0;
const doubleType = 1;

export const text =
  (number: number): Write =>
  (writer, value) => {
    writer.uint32((number << 3) | bytesType).string(String(value));
  };
export const texts =
  (number: number): Write =>
  (writer, value) =>
    each(value, (item) => text(number)(writer, item));
export const flag =
  (number: number): Write =>
  (writer, value) => {
    if (value === true) writer.uint32((number << 3) | varintType).bool(true);
  };
export const double =
  (number: number): Write =>
  (writer, value) => {
    writer.uint32((number << 3) | doubleType).double(Number(value));
  };
export const integer =
  (number: number): Write =>
  (writer, value) => {
    writer.uint32((number << 3) | varintType).int64(Number(value));
  };
export const nested =
  (write: Write) =>
  (number: number): Write =>
  (writer, value) => {
    writer.uint32((number << 3) | bytesType).fork();
    write(writer, value);
    writer.ldelim();
  };
export const nestedEach =
  (write: Write) =>
  (number: number): Write =>
  (writer, value) =>
    each(value, (item) => nested(write)(number)(writer, item));

/** Writes a map as a message of pairs in field `pairs`. */
export const pairs =
  (number: number, write: Write): Write =>
  (writer, value) => {
    if (!isJsonObject(value)) throw new Error("a map of the document is not an object");
    for (const [name, item] of Object.entries(value)) pair(number, name, write)(writer, item);
  };
export const pair =
  (number: number, name: string, write: Write): Write =>
  (writer, value) => {
    writer.uint32((number << 3) | bytesType).fork();
    text(1)(writer, name);
    nested(write)(2)(writer, value);
    writer.ldelim();
  };

/** Writes any value as YAML text. JSON is valid YAML. */
export const anyValue: Write = (writer, value) => text(2)(writer, stringifyJson(value));

/** Writes a struct message. Keys that start with `x-` go to the field of extensions, if the message has one. */
export function message(fields: () => Fields, extensions: number | undefined): Write {
  return (writer, value) => {
    if (!isJsonObject(value)) throw new Error("a message of the document is not an object");
    const known = fields();
    for (const [key, item] of Object.entries(value)) {
      if (extensions !== undefined && key.startsWith("x-")) pair(extensions, key, anyValue)(writer, item);
      else writeKnown(known, key, writer, item);
    }
  };
}

export function writeKnown(fields: Fields, key: string, writer: Writer, value: JsonValue): void {
  const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
  if (field === undefined) throw new Error(`${key} has no field in the protobuf form of OpenAPI`);
  const [number, write] = field;
  write(number)(writer, value);
}

function each(value: JsonValue, write: (item: JsonValue) => void): void {
  if (!Array.isArray(value)) throw new Error("a list of the document is not a list");
  for (const item of value) write(item);
}
