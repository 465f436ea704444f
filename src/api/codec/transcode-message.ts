import type { JsonValue } from "../json.ts";
import type { Field, Schema, StructSchema } from "../schema/schema.ts";
import { toBytes } from "./byte-text.ts";
import { parseJsonText } from "./json.ts";
import { type FieldPlan, fieldPlans } from "./protobuf.ts";
import { ProtobufOutput } from "./protobuf-output.ts";
import { tagOf } from "./protobuf-scalar.ts";
import { wireBytes } from "./protobuf-wire.ts";
import { newWriter } from "./protobuf-writer.ts";
import { StoredJsonReader, unexpectedForm } from "./stored-json-reader.ts";
import { scalarTranscoder, type ValueTranscoder } from "./transcode-scalar.ts";

/**
 * Writes a stored body as the message that `encodeMessage` makes of its object, in one pass and without the object.
 * Returns undefined if the body is not in the form in which the store writes it. It then has to be decoded.
 */
export function transcodeMessage(schema: StructSchema, body: Uint8Array): Uint8Array | undefined {
  return transcribed(body, (json) => {
    json.enterObject();
    transcoderOf(schema).members(json, output);
    json.leaveObject();
    if (!json.atEnd) throw unexpectedForm;
  });
}

/** Writes the metadata of a stored body as a PartialObjectMetadata, and does not read what comes after it. */
export function transcodeMetadata(schema: StructSchema, body: Uint8Array): Uint8Array | undefined {
  return transcribed(body, (json) => {
    json.enterObject();
    transcoderOf(schema).members(json, output);
  });
}

function transcribed(body: Uint8Array, write: (json: StoredJsonReader) => void): Uint8Array | undefined {
  try {
    write(new StoredJsonReader(body));
    return output.copied();
  } catch (error) {
    if (error !== unexpectedForm) throw error;
    return undefined;
  } finally {
    output.clear();
  }
}

/** Messages are written one after the other, each without waiting. */
const output = new ProtobufOutput();

/** A field or inlined struct, in the order of the JSON. */
interface Member {
  readonly number: number;
  /** Writes the member, or its zero value if it is not next in the JSON. */
  write(json: StoredJsonReader, output: ProtobufOutput): void;
}

/** Compiled once per type, on first use. */
const transcoders = new WeakMap<StructSchema, MessageTranscoder>();

function transcoderOf(schema: StructSchema): MessageTranscoder {
  let transcoder = transcoders.get(schema);
  if (transcoder === undefined) {
    transcoder = new MessageTranscoder(schema);
    transcoders.set(schema, transcoder);
  }
  return transcoder;
}

class MessageTranscoder {
  readonly #members: readonly Member[];
  /** Indexes of the members by their numbers; undefined if they have this order in the JSON too. */
  readonly #order: readonly number[] | undefined;

  constructor(schema: StructSchema) {
    this.#members = membersOf(schema);
    const numbers = this.#members.map(({ number }) => number);
    const isOrdered = numbers.every((number, at) => at === 0 || (numbers[at - 1] as number) < number);
    const byNumber = numbers.map((_, at) => at).sort((a, b) => (numbers[a] as number) - (numbers[b] as number));
    this.#order = isOrdered ? undefined : byNumber;
  }

  /** Writes the members of the JSON object that has been entered. */
  members(json: StoredJsonReader, output: ProtobufOutput): void {
    if (this.#order !== undefined) {
      this.#membersReordered(json, output, this.#order);
      return;
    }
    for (const member of this.#members) member.write(json, output);
  }

  #membersReordered(json: StoredJsonReader, output: ProtobufOutput, order: readonly number[]): void {
    const starts: number[] = [];
    let last = 0;
    let isOrdered = true;
    for (const member of this.#members) {
      const start = output.end;
      starts.push(start);
      member.write(json, output);
      if (output.end === start) continue;
      if (member.number < last) isOrdered = false;
      last = member.number;
    }
    if (!isOrdered) output.reorder(starts, order);
  }
}

function membersOf(schema: StructSchema): Member[] {
  const plans = fieldPlans(schema);
  const members: Member[] = [];
  let inlined: StructSchema | undefined;
  for (const field of schema.fields.values()) {
    if (!field.protoInlined) {
      const plan = plans.get(field.number);
      if (plan !== undefined) members.push(fieldMember(field, plan));
      continue;
    }
    // The fields of an inlined struct stand together.
    if (inlined?.fields.has(field.name) === true) continue;
    const [number, struct] = inlinedWith(schema, field);
    inlined = struct;
    members.push(inlineMember(number, struct));
  }
  return members;
}

function inlinedWith(schema: StructSchema, { name }: Field): readonly [number, StructSchema] {
  for (const inlined of schema.protoInline) if (inlined[1].fields.has(name)) return inlined;
  throw new Error(`${schema.name} inlines no struct with ${name}`);
}

/** Returns the member of a struct that JSON inlines and protobuf nests. */
function inlineMember(number: number, schema: StructSchema): Member {
  const tag = tagOf(number, wireBytes);
  return {
    number,
    write(json, output) {
      output.tag(tag);
      const opened = output.open();
      transcoderOf(schema).members(json, output);
      output.close(opened);
    },
  };
}

function fieldMember(field: Field, plan: FieldPlan): Member {
  const key = toBytes(`${JSON.stringify(field.name)}:`);
  const absent = encodedField(plan, field.name, undefined);
  const transcode = fieldTranscoder(field, plan);
  return {
    number: plan.number,
    write(json, output) {
      if (!json.passKey(key) || json.passNull()) {
        if (absent.length > 0) output.copy(absent);
      } else if (transcode?.(json, output) !== true) {
        const start = json.at;
        json.passValue();
        output.copy(encodedField(plan, field.name, parseJsonText(json.textFrom(start))));
      }
      json.passComma();
    },
  };
}

/** Encodes one field of an object, with its tag; undefined stands for a field that the object does not have. */
function encodedField(plan: FieldPlan, name: string, value: JsonValue | undefined): Uint8Array {
  const writer = newWriter();
  plan.write(writer, value === undefined ? {} : { [name]: value });
  return Uint8Array.from(writer.finish());
}

/** Returns undefined for a type whose values are decoded and encoded. */
function fieldTranscoder(field: Field, { isPlain }: FieldPlan): ValueTranscoder | undefined {
  const { schema, number } = field;
  if (!isPlain) return undefined;
  if (schema.kind === "list") return listTranscoder(valueTranscoder(schema.items, number));
  if (schema.kind === "map") return mapTranscoder(number, valueTranscoder(schema.values, mapValueNumber));
  return valueTranscoder(schema, number);
}

function valueTranscoder(schema: Schema, number: number): ValueTranscoder | undefined {
  if (schema.kind === "struct") return structTranscoder(schema, number);
  if (schema.kind !== "scalar" || schema.alternative !== undefined) return undefined;
  return scalarTranscoder(schema.scalar, number);
}

function structTranscoder(schema: StructSchema, number: number): ValueTranscoder {
  const tag = tagOf(number, wireBytes);
  return (json, output) => {
    output.tag(tag);
    const opened = output.open();
    json.enterObject();
    transcoderOf(schema).members(json, output);
    json.leaveObject();
    output.close(opened);
    return true;
  };
}

/** Each item has the tag of the list. */
function listTranscoder(item: ValueTranscoder | undefined): ValueTranscoder | undefined {
  if (item === undefined) return undefined;
  return (json, output) => {
    json.enterList();
    while (!json.passEnd()) {
      if (!item(json, output)) throw unexpectedForm;
      json.passComma();
    }
    return true;
  };
}

const mapKeyTag = tagOf(1, wireBytes);
const mapValueNumber = 2;

/** Each entry is a message with the tag of the map. Keys that are not sorted in the JSON have to be decoded. */
function mapTranscoder(number: number, value: ValueTranscoder | undefined): ValueTranscoder | undefined {
  if (value === undefined) return undefined;
  const tag = tagOf(number, wireBytes);
  return (json, output) => {
    json.enterObject();
    let keyStart = 0;
    let keyEnd = 0;
    while (!json.passEnd()) {
      const start = json.at + 1;
      const end = json.passText();
      if (keyStart > 0 && !json.isBefore(keyStart, keyEnd, start, end)) throw unexpectedForm;
      keyStart = start;
      keyEnd = end;
      json.passColon();
      output.tag(tag);
      const opened = output.open();
      output.byte(mapKeyTag);
      output.copyWithLength(json.bytes, start, end);
      if (!value(json, output)) throw unexpectedForm;
      output.close(opened);
      json.passComma();
    }
    return true;
  };
}
