import type { Writer } from "protobufjs/minimal.js";
import { compareTexts } from "../code-points.ts";
import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Field, Schema, StructSchema } from "../schema/schema.ts";
import { jsonSchemaPropsCodec } from "./protobuf-json-schema.ts";
import { expectWireType, readFields, scalarCodecs, tagOf, type ValueCodec } from "./protobuf-scalar.ts";
import { ProtobufDecodeError, ProtobufReader, type WireType, wireBytes } from "./protobuf-wire.ts";
import { newWriter } from "./protobuf-writer.ts";

export * from "./protobuf-envelope.ts";
export { ProtobufDecodeError } from "./protobuf-wire.ts";

/**
 * Encodes an object without the envelope, apiVersion and kind. Fields are written in the order of their numbers: non-
 * pointers always, pointers when present, lists and maps when not empty, map entries sorted by key. The object must fit
 * the schema.
 */
export function encodeMessage(schema: StructSchema, object: JsonObject): Uint8Array {
  const writer = newWriter();
  writeMessage(writer, schema, object);
  return writer.finish();
}

/**
 * Decodes an object to its JSON shape, without apiVersion and kind. Unknown fields are skipped; a zero value is absent
 * where its JSON form leaves it out.
 * @throws ProtobufDecodeError, and StatusError 413 for more than `valuesMax` values
 */
export function decodeMessage(schema: StructSchema, bytes: Uint8Array, valuesMax?: number): JsonObject {
  const object = emptyJsonObject();
  readMessage(new ProtobufReader(bytes, valuesMax), schema, object);
  return object;
}

/** Does the same, and yields now and then. */
export function* decodeMessageInSteps(
  schema: StructSchema,
  bytes: Uint8Array,
  valuesMax: number,
): Generator<void, JsonObject> {
  const object = emptyJsonObject();
  yield* readMessageInSteps(new ProtobufReader(bytes, valuesMax), schema, object);
  return object;
}

/** How one field is written and read. */
export interface FieldPlan {
  readonly number: number;
  /** True if the schema of the field alone determines its message. */
  readonly isPlain: boolean;
  write(writer: Writer, object: JsonObject): void;
  read(reader: ProtobufReader, wireType: WireType, object: JsonObject): void;
  /** Does the same, and yields now and then; undefined if a value takes no time. */
  readonly readInSteps?:
    | ((reader: ProtobufReader, wireType: WireType, object: JsonObject) => Generator<void>)
    | undefined;
}
interface MessagePlan {
  /** In the order of their numbers. */
  readonly fields: readonly FieldPlan[];
  readonly byNumber: ReadonlyMap<number, FieldPlan>;
}

/** Returns the plans of the fields of a type by their numbers. */
export function fieldPlans(schema: StructSchema): ReadonlyMap<number, FieldPlan> {
  return planOf(schema).byNumber;
}

/** One plan per compiled type, made on first use. */
const plans = new WeakMap<StructSchema, MessagePlan>();

/** Lists that are messages of their own, `{items=1}`, although they are not map values. */
const wrappedLists: ReadonlySet<string> = new Set(["meta/v1.APIResource.verbs"]);

function planOf(schema: StructSchema): MessagePlan {
  const known = plans.get(schema);
  if (known !== undefined) return known;
  const fields: FieldPlan[] = [];
  for (const field of schema.fields.values()) {
    if (field.number > 0 && !field.protoInlined) fields.push(planField(schema, field));
  }
  for (const [number, inlined] of schema.protoInline) fields.push(planInline(number, inlined));
  fields.sort((a, b) => a.number - b.number);
  const plan = { fields, byNumber: new Map(fields.map((field) => [field.number, field])) };
  plans.set(schema, plan);
  return plan;
}

function writeMessage(writer: Writer, schema: StructSchema, object: JsonObject): void {
  for (const field of planOf(schema).fields) field.write(writer, object);
}

function readMessage(reader: ProtobufReader, schema: StructSchema, object: JsonObject): void {
  const { byNumber } = planOf(schema);
  while (!reader.atEnd) {
    reader.count();
    const { number, wireType } = reader.tag();
    const field = byNumber.get(number);
    if (field === undefined) reader.skip(wireType);
    else field.read(reader, wireType, object);
  }
}

/** Fields of a message that are read without a pause. */
const stepFields = 256;

function* readMessageInSteps(reader: ProtobufReader, schema: StructSchema, object: JsonObject): Generator<void> {
  const { byNumber } = planOf(schema);
  for (let fields = 1; !reader.atEnd; fields++) {
    if (fields % stepFields === 0) yield;
    reader.count();
    const { number, wireType } = reader.tag();
    const field = byNumber.get(number);
    if (field === undefined) reader.skip(wireType);
    else if (field.readInSteps === undefined) field.read(reader, wireType, object);
    else yield* field.readInSteps(reader, wireType, object);
  }
}

function readNested(reader: ProtobufReader, schema: StructSchema, object: JsonObject): void {
  const outerEnd = reader.enter();
  readMessage(reader, schema, object);
  reader.leave(outerEnd);
}

/** Plans a struct that is inlined into its parent in JSON, but a nested message in protobuf. */
function planInline(number: number, schema: StructSchema): FieldPlan {
  const tag = tagOf(number, wireBytes);
  return {
    number,
    isPlain: true,
    write(writer, object) {
      writer.uint32(tag).fork();
      writeMessage(writer, schema, object);
      writer.ldelim();
    },
    read(reader, wireType, object) {
      expectWireType(wireType, wireBytes);
      readNested(reader, schema, object);
    },
  };
}

function planField(parent: StructSchema, field: Field): FieldPlan {
  const special = jsonSchemaPropsCodec(parent.name, field.name, structCodec(parent));
  if (special !== undefined) {
    const plan = field.name === "dependencies" ? planMap(field, special) : planSingle(field, special);
    return { ...plan, isPlain: false };
  }
  const { schema } = field;
  if (schema.kind === "map") return planMap(field, codecOf(schema.values));
  if (schema.kind !== "list") return planSingle(field, codecOf(schema));
  if (wrappedLists.has(`${parent.name}.${field.name}`)) {
    return { ...planSingle(field, wrappedListCodec(schema.items)), isPlain: false };
  }
  return planList(field, codecOf(schema.items));
}

function planSingle(field: Field, codec: ValueCodec): FieldPlan {
  const { name, number } = field;
  const tag = tagOf(number, codec.wireType);
  const absent = field.pointer ? undefined : codec.zero;
  return {
    number,
    isPlain: true,
    write(writer, object) {
      const value = object[name] ?? absent;
      if (value === undefined) return;
      writer.uint32(tag);
      codec.write(writer, value);
    },
    read(reader, wireType, object) {
      expectWireType(wireType, codec.wireType);
      keep(object, codec.read(reader));
    },
    readInSteps:
      codec.readInSteps &&
      function* (reader, wireType, object) {
        expectWireType(wireType, codec.wireType);
        keep(object, yield* codec.readInSteps!(reader));
      },
  };

  function keep(object: JsonObject, value: JsonValue): void {
    if (!isLeftOut(field, value)) object[name] = value;
    else delete object[name];
  }
}

/** Reports whether the value just read is one that the JSON form leaves out. */
function isLeftOut(field: Field, value: JsonValue): boolean {
  if (value === null) return field.pointer || field.omitZero;
  if (field.pointer) return false;
  if (isJsonObject(value)) return field.omitZero && Object.keys(value).length === 0;
  const { schema } = field;
  // Types such as quantities are structs in Go, which are never empty.
  if (schema.kind === "scalar" && structScalars.has(schema.scalar)) return false;
  return field.omitEmpty && (value === "" || value === 0 || value === false);
}

const structScalars: ReadonlySet<string> = new Set(["quantity", "intOrString", "duration", "any", "rawExtension"]);

function planList(field: Field, codec: ValueCodec): FieldPlan {
  const { name, number } = field;
  const tag = tagOf(number, codec.wireType);
  return {
    number,
    isPlain: true,
    write(writer, object) {
      const list = object[name] as JsonValue[] | null | undefined;
      if (list === undefined || list === null) return;
      for (const item of list) {
        writer.uint32(tag);
        codec.write(writer, item ?? itemZero(codec));
      }
    },
    read(reader, wireType, object) {
      const list = (object[name] ??= []) as JsonValue[];
      if (wireType === wireBytes && codec.wireType !== wireBytes) {
        const outerEnd = reader.enter();
        while (!reader.atEnd) {
          reader.count();
          list.push(codec.read(reader));
        }
        reader.leave(outerEnd);
        return;
      }
      expectWireType(wireType, codec.wireType);
      list.push(codec.read(reader));
    },
    readInSteps:
      codec.readInSteps &&
      function* (reader, wireType, object) {
        const list = (object[name] ??= []) as JsonValue[];
        expectWireType(wireType, codec.wireType);
        list.push(yield* codec.readInSteps!(reader));
      },
  };
}

function planMap(field: Field, codec: ValueCodec): FieldPlan {
  const { name, number } = field;
  const tag = tagOf(number, wireBytes);
  const keyTag = tagOf(1, wireBytes);
  const valueTag = tagOf(2, codec.wireType);
  return {
    number,
    isPlain: true,
    write(writer, object) {
      const map = object[name] as JsonObject | null | undefined;
      if (map === undefined || map === null) return;
      for (const key of Object.keys(map).sort(compareTexts)) {
        writer.uint32(tag).fork().uint32(keyTag).string(key).uint32(valueTag);
        codec.write(writer, map[key] ?? itemZero(codec));
        writer.ldelim();
      }
    },
    read(reader, wireType, object) {
      expectWireType(wireType, wireBytes);
      const map = (object[name] ??= emptyJsonObject()) as JsonObject;
      let key = "";
      let value: JsonValue = itemZero(codec);
      readFields(reader, (entryNumber, entryWireType) => {
        if (entryNumber !== 1 && entryNumber !== 2) return false;
        expectWireType(entryWireType, entryNumber === 1 ? wireBytes : codec.wireType);
        if (entryNumber === 1) key = reader.text();
        else value = codec.read(reader);
        return true;
      });
      map[key] = value;
    },
  };
}

/** Returns the meaning of null inside a list or map. */
function itemZero(codec: ValueCodec): JsonValue {
  return codec.zero ?? (codec === scalarCodecs.bytes ? "" : null);
}

/** Returns the codec of a value inside a field, list or map, where a list is a message of its own. */
function codecOf(schema: Schema): ValueCodec {
  switch (schema.kind) {
    case "scalar":
      return scalarCodecs[schema.scalar];
    case "struct":
      return structCodec(schema);
    case "list":
      return wrappedListCodec(schema.items);
    case "map":
      throw new ProtobufDecodeError("proto: a map inside a list or map has no protobuf form");
  }
}

function structCodec(schema: StructSchema): ValueCodec {
  return {
    wireType: wireBytes,
    // Shared by all, because it is never written to.
    zero: emptyStruct,
    write(writer, value) {
      writer.fork();
      writeMessage(writer, schema, isJsonObject(value) ? value : emptyStruct);
      writer.ldelim();
    },
    read(reader) {
      const object = emptyJsonObject();
      readNested(reader, schema, object);
      return object;
    },
    *readInSteps(reader) {
      const object = emptyJsonObject();
      const outerEnd = reader.enter();
      yield* readMessageInSteps(reader, schema, object);
      reader.leave(outerEnd);
      return object;
    },
  };
}

const emptyStruct: JsonObject = Object.freeze(emptyJsonObject());

function wrappedListCodec(items: Schema): ValueCodec {
  const codec = codecOf(items);
  const tag = tagOf(1, codec.wireType);
  return {
    wireType: wireBytes,
    zero: undefined,
    write(writer, value) {
      writer.fork();
      for (const item of Array.isArray(value) ? value : []) {
        writer.uint32(tag);
        codec.write(writer, item ?? itemZero(codec));
      }
      writer.ldelim();
    },
    read(reader) {
      const list: JsonValue[] = [];
      readFields(reader, (number, wireType) => {
        if (number !== 1) return false;
        expectWireType(wireType, codec.wireType);
        list.push(codec.read(reader));
        return true;
      });
      return list;
    },
  };
}
