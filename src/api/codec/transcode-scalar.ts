import type { ScalarKind } from "../schema/schema.ts";
import type { ProtobufOutput } from "./protobuf-output.ts";
import { tagOf } from "./protobuf-scalar.ts";
import { wireBytes, wireVarint } from "./protobuf-wire.ts";
import type { StoredJsonReader } from "./stored-json-reader.ts";
import { transcodeText } from "./transcode-text.ts";

/**
 * Reads the next value of the JSON, which is not null, and writes it with its tag. Returns false, without having read
 * or written, for a value that has to be decoded.
 */
export type ValueTranscoder = (json: StoredJsonReader, output: ProtobufOutput) => boolean;

/** Returns the transcoder of a scalar with this field number; undefined if all of its values have to be decoded. */
export function scalarTranscoder(scalar: ScalarKind, number: number): ValueTranscoder | undefined {
  return transcoders[scalar]?.(number);
}

type MakeTranscoder = (number: number) => ValueTranscoder;

const transcoders: Readonly<Partial<Record<ScalarKind, MakeTranscoder>>> = {
  string: (number) => {
    const tag = tagOf(number, wireBytes);
    return (json, output) => {
      output.tag(tag);
      transcodeText(json, output);
      return true;
    };
  },
  bool: (number) => {
    const tag = tagOf(number, wireVarint);
    return (json, output) => {
      output.tag(tag);
      output.byte(json.flag() ? 1 : 0);
      return true;
    };
  },
  int32: integer,
  int64: integer,
  bytes: (number) => {
    const tag = tagOf(number, wireBytes);
    return (json, output) => {
      const start = json.at + 1;
      json.passText();
      const bytes = Buffer.from(json.textFrom(start).slice(0, -1), "base64");
      output.tag(tag);
      output.varint(bytes.length);
      output.copy(bytes);
      return true;
    };
  },
  quantity: (number) => {
    const tag = tagOf(number, wireBytes);
    return (json, output) => {
      if (!json.atText) return false;
      output.tag(tag);
      const opened = output.open();
      output.byte(textTag);
      transcodeText(json, output);
      output.close(opened);
      return true;
    };
  },
  intOrString: (number) => {
    const tag = tagOf(number, wireBytes);
    return (json, output) => (json.atText ? textChoice(json, output, tag) : integerChoice(json, output, tag));
  },
  time: (number) => {
    const tag = tagOf(number, wireBytes);
    return (json, output) => {
      const seconds = json.utcSeconds();
      if (seconds === undefined) return false;
      output.tag(tag);
      const opened = output.open();
      output.byte(secondsTag);
      output.varint(seconds);
      output.byte(nanosecondsTag);
      output.byte(0);
      output.close(opened);
      return true;
    };
  },
  rawExtension: rawJson,
  fieldsV1: rawJson,
};

/** Tags of the fields in the messages of quantities, times and raw JSON. */
const textTag = tagOf(1, wireBytes);
const secondsTag = tagOf(1, wireVarint);
const nanosecondsTag = tagOf(2, wireVarint);

function integer(number: number): ValueTranscoder {
  const tag = tagOf(number, wireVarint);
  return (json, output) => {
    const value = json.naturalNumber();
    if (value === undefined) return false;
    output.tag(tag);
    output.varint(value);
    return true;
  };
}

/** JSON is stored as it is written in protobuf. */
function rawJson(number: number): ValueTranscoder {
  const tag = tagOf(number, wireBytes);
  return (json, output) => {
    if (!json.atObject) return false;
    const start = json.at;
    json.passValue();
    output.tag(tag);
    const opened = output.open();
    output.byte(textTag);
    output.copyWithLength(json.bytes, start, json.at);
    output.close(opened);
    return true;
  };
}

/** The fields of IntOrString: which of the two it is, the number, and the text. */
const choiceTag = tagOf(1, wireVarint);
const numberTag = tagOf(2, wireVarint);
const choiceTextTag = tagOf(3, wireBytes);

function textChoice(json: StoredJsonReader, output: ProtobufOutput, tag: number): boolean {
  output.tag(tag);
  const opened = output.open();
  for (const byte of [choiceTag, 1, numberTag, 0, choiceTextTag]) output.byte(byte);
  transcodeText(json, output);
  output.close(opened);
  return true;
}

function integerChoice(json: StoredJsonReader, output: ProtobufOutput, tag: number): boolean {
  const value = json.naturalNumber();
  if (value === undefined) return false;
  output.tag(tag);
  const opened = output.open();
  for (const byte of [choiceTag, 0, numberTag]) output.byte(byte);
  output.varint(value);
  output.byte(choiceTextTag);
  output.byte(0);
  output.close(opened);
  return true;
}
