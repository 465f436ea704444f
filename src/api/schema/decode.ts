import { cloneJson, emptyJsonObject, isJsonObject, type JsonObject, type JsonValue, shallowCopy } from "../json.ts";
import { DecodeTypeError, goStructName, goTypeOf, type PlaceSegment, placeOf, wrongType } from "./decode-error.ts";
import { type PlaceOf, scalarCodecs } from "./decode-scalar.ts";
import type { Field, ListSchema, MapSchema, ScalarSchema, Schema, StructSchema } from "./schema.ts";

/** Structs inside structs; no built-in type needs more than a few dozen. */
export const maxDecodeDepth = 512;
/** Unknown fields reported of one document; what is beyond is dropped as silently as its report. */
export const maxUnknownFields = 100;

export interface Decoded {
  /**
   * Known fields in order of declaration; `kind` and `apiVersion`, when given, in front. Shares only free-form JSON with
   * the input, or whatever is in its final form there with `takesOver`.
   */
  readonly object: JsonObject;
  /** Paths such as `spec.containers[0].foo`, dropped from the object, in the order of the document. At most `maxUnknownFields`. */
  readonly unknownFields: string[];
}

/**
 * What the reference implementation would hold after reading the document into its type and writing it again:
 * unknown fields are gone, null is absent, quantities, times and base64 have their canonical text, zero values are left
 * out or written as the type says.
 * @param options.kind names the type in the error for a document that is no object
 * @param options.takesOver parts that need no change are taken over instead of copied; nobody changes the input any more
 * @throws DecodeTypeError when a value has the wrong type or form
 */
export function decodeTyped(
  schema: StructSchema,
  value: JsonValue,
  options: { readonly kind: string; readonly takesOver?: boolean },
): Decoded {
  const run = new Run(options.takesOver ?? false);
  if (value !== null && !isJsonObject(value)) {
    const goPackage = goTypeOf(schema).split(".")[0] as string;
    throw wrongType(value, `${goPackage}.${options.kind}`, undefined);
  }
  const object = structDecoder(schema).decode(value ?? {}, run) as JsonObject;
  return { object, unknownFields: inDocumentOrder(run.unknown, value ?? {}).map(pathText) };
}

/**
 * The order in which a reader of the text meets them; a struct meets its own only after those of its known fields.
 * Looks through each object on the way once, however many places it holds.
 * @param depth the segments that all of the places have in common, and that lead to `value`
 */
function inDocumentOrder(places: PlaceSegment[][], value: JsonValue | undefined, depth = 0): PlaceSegment[][] {
  if (places.length < 2) return places;
  const byKey = Map.groupBy(places, (place) => keyOf(place[depth] as PlaceSegment));
  return keysInOrder(byKey, value).flatMap((key) =>
    inDocumentOrder(byKey.get(key) ?? [], (value as JsonObject | undefined)?.[key], depth + 1),
  );
}

function keysInOrder(wanted: ReadonlyMap<string | number, unknown>, value: JsonValue | undefined): (string | number)[] {
  if (wanted.size < 2) return [...wanted.keys()];
  // The decoder takes lists in order.
  if (Array.isArray(value)) return [...wanted.keys()];
  return Object.keys(value ?? {}).filter((key) => wanted.has(key));
}

/** The state of one call. */
class Run {
  readonly takesOver: boolean;
  readonly segments: PlaceSegment[] = [];
  readonly unknown: PlaceSegment[][] = [];
  /** Innermost struct around the current value. */
  struct = "";
  depth = 0;

  constructor(takesOver: boolean) {
    this.takesOver = takesOver;
  }

  readonly place: PlaceOf = () => placeOf(this.struct, this.segments);

  /** False when no more are reported. */
  reportUnknown(name: string): boolean {
    if (this.unknown.length >= maxUnknownFields) return false;
    this.unknown.push([...this.segments, { field: name }]);
    return true;
  }
}

interface Decoder {
  /** Never gets null. */
  decode(value: JsonValue, run: Run): JsonValue;
  /** Stands for null inside a list or a map. */
  zeroElement(): JsonValue;
  /** `omitempty` leaves out an empty value of this type. */
  isEmpty(value: JsonValue): boolean;
}

interface FieldDecoder {
  readonly name: string;
  /** Among the fields of its struct. */
  readonly position: number;
  readonly segment: PlaceSegment;
  readonly decoder: Decoder;
  /** What is written when the field is absent; undefined: nothing. */
  readonly absent: (() => JsonValue) | undefined;
  readonly omitsEmpty: boolean;
  readonly omitsNull: boolean;
}

/** Compiled once per schema, on first use. */
const structDecoders = new WeakMap<StructSchema, StructDecoder>();

function structDecoder(schema: StructSchema): StructDecoder {
  let decoder = structDecoders.get(schema);
  if (decoder === undefined) {
    decoder = new StructDecoder(schema);
    structDecoders.set(schema, decoder);
  }
  return decoder;
}

function decoderOf(schema: Schema): Decoder {
  switch (schema.kind) {
    case "struct":
      return structDecoder(schema);
    case "list":
      return new ListDecoder(schema);
    case "map":
      return new MapDecoder(schema);
    case "scalar": {
      if (schema.alternative !== undefined) return new AlternativeDecoder(schema.alternative);
      const { decode, zero } = scalarCodecs[schema.scalar];
      return {
        decode: (value, run) => decode(value, run.place),
        zeroElement: () => zero,
        isEmpty: (value) => value === "" || value === 0 || value === false || value === null,
      };
    }
  }
}

class StructDecoder implements Decoder {
  readonly #schema: StructSchema;
  readonly #name: string;
  #fields: StructFields | undefined;
  #zero: JsonObject | undefined;

  constructor(schema: StructSchema) {
    this.#schema = schema;
    this.#name = goStructName(schema.name);
  }

  decode(value: JsonValue, run: Run): JsonValue {
    if (!isJsonObject(value)) throw wrongType(value, goTypeOf(this.#schema), run.place());
    if (++run.depth > maxDecodeDepth) throw new DecodeTypeError("exceeded max depth");
    const outerStruct = run.struct;
    run.struct = this.#name;
    this.#fields ??= new StructFields(this.#schema);
    const object =
      run.takesOver && this.#fields.areThoseOf(value)
        ? decodeParts(value, this.#fields, run)
        : this.#rebuild(value, this.#fields, run);
    run.struct = outerStruct;
    run.depth--;
    return object;
  }

  #rebuild(value: JsonObject, { inOrder }: StructFields, run: Run): JsonObject {
    const object = emptyJsonObject();
    let known = this.#schema.typeMeta === true ? decodeTypeMeta(value, object, run) : 0;
    for (const field of inOrder) {
      const given = value[field.name];
      if (given !== undefined) known++;
      const result = given === undefined || given === null ? field.absent?.() : decodeField(field, given, run);
      if (result !== undefined) object[field.name] = result;
    }
    if (Object.keys(value).length !== known) this.#keepOrReport(value, object, run);
    return object;
  }

  zeroElement(): JsonValue {
    this.#zero ??= this.decode({}, new Run(false)) as JsonObject;
    return cloneJson(this.#zero);
  }

  /** A struct is never empty for `omitempty`. */
  isEmpty(): boolean {
    return false;
  }

  #keepOrReport(value: JsonObject, object: JsonObject, run: Run): void {
    for (const key of Object.keys(value)) {
      if (this.#schema.fields.has(key) || value[key] === undefined) continue;
      if (this.#schema.typeMeta === true && (key === "kind" || key === "apiVersion")) continue;
      if (this.#schema.preserveUnknown) object[key] = cloneJson(value[key] as JsonValue);
      else if (!run.reportUnknown(key)) return;
    }
  }
}

class ListDecoder implements Decoder {
  readonly #schema: ListSchema;
  #items: Decoder | undefined;

  constructor(schema: ListSchema) {
    this.#schema = schema;
  }

  decode(value: JsonValue, run: Run): JsonValue {
    if (!Array.isArray(value)) throw wrongType(value, goTypeOf(this.#schema), run.place());
    this.#items ??= decoderOf(this.#schema.items);
    const items = this.#items;
    const at = run.segments.push(0) - 1;
    let list = run.takesOver ? value : [...value];
    for (let index = 0; index < value.length; index++) {
      run.segments[at] = index;
      const item = value[index] as JsonValue;
      const decoded = item === null ? items.zeroElement() : items.decode(item, run);
      if (decoded === item) continue;
      if (list === value) list = [...value];
      list[index] = decoded;
    }
    run.segments.length = at;
    return list;
  }

  zeroElement(): JsonValue {
    return null;
  }

  isEmpty(value: JsonValue): boolean {
    return Array.isArray(value) && value.length === 0;
  }
}

class MapDecoder implements Decoder {
  readonly #schema: MapSchema;
  #values: Decoder | undefined;

  constructor(schema: MapSchema) {
    this.#schema = schema;
  }

  decode(value: JsonValue, run: Run): JsonValue {
    if (!isJsonObject(value)) throw wrongType(value, goTypeOf(this.#schema), run.place());
    this.#values ??= decoderOf(this.#schema.values);
    const values = this.#values;
    let map = run.takesOver && Object.getPrototypeOf(value) === null ? value : shallowCopy(value);
    const at = run.segments.push(0) - 1;
    for (const key of Object.keys(value)) {
      run.segments[at] = { key };
      const given = value[key] as JsonValue;
      const decoded = given === null ? values.zeroElement() : values.decode(given, run);
      if (decoded === given) continue;
      if (map === value) map = shallowCopy(value);
      map[key] = decoded;
    }
    run.segments.length = at;
    return map;
  }

  zeroElement(): JsonValue {
    return null;
  }

  isEmpty(value: JsonValue): boolean {
    return isJsonObject(value) && Object.keys(value).length === 0;
  }
}

/** Decodes a struct where there may be something else: a list of them, or a flag. */
class AlternativeDecoder implements Decoder {
  readonly #alternative: NonNullable<ScalarSchema["alternative"]>;

  constructor(alternative: NonNullable<ScalarSchema["alternative"]>) {
    this.#alternative = alternative;
  }

  decode(value: JsonValue, run: Run): JsonValue {
    const { struct, takesFlag } = this.#alternative;
    if (isJsonObject(value)) return this.#struct(struct(), value, run);
    if (takesFlag && typeof value !== "boolean") throw new DecodeTypeError("boolean or JSON schema expected");
    if (!Array.isArray(value)) return value;
    return value.map((item) => (isJsonObject(item) ? this.#struct(struct(), item, run) : item));
  }

  /** Upstream drops unknown fields in here without a word. */
  #struct(schema: StructSchema, value: JsonObject, run: Run): JsonValue {
    const known = run.unknown.length;
    const decoded = structDecoder(schema).decode(value, run);
    run.unknown.length = known;
    return decoded;
  }

  zeroElement(): JsonValue {
    return null;
  }

  isEmpty(): boolean {
    return false;
  }
}

/** The number of keys that belong to the type. */
function decodeTypeMeta(value: JsonObject, object: JsonObject, run: Run): number {
  let known = 0;
  for (const name of ["kind", "apiVersion"]) {
    const given = value[name];
    if (given === undefined) continue;
    known++;
    if (given === null) continue;
    run.segments.push({ field: name });
    const decoded = scalarCodecs.string.decode(given, run.place);
    run.segments.pop();
    if (decoded !== "") object[name] = decoded;
  }
  return known;
}

function decodeField(field: FieldDecoder, given: JsonValue, run: Run): JsonValue | undefined {
  run.segments.push(field.segment);
  const value = field.decoder.decode(given, run);
  run.segments.pop();
  if (field.omitsEmpty && field.decoder.isEmpty(value)) return undefined;
  return value === null && field.omitsNull ? undefined : value;
}

/** What a struct is decoded by. */
class StructFields {
  readonly inOrder: readonly FieldDecoder[];
  readonly byName: ReadonlyMap<string, FieldDecoder>;
  /** Fields that are written even when nothing sets them. */
  readonly #alwaysWritten: number;

  constructor(schema: StructSchema) {
    this.inOrder = [...schema.fields.values()].map((field, position) => fieldDecoder(field, position));
    this.byName = new Map(this.inOrder.map((field) => [field.name, field]));
    this.#alwaysWritten = this.inOrder.filter(({ absent }) => absent !== undefined).length;
  }

  /** Whether the keys of `value` are those that its decoded form has: in order, none unknown, none to be added. */
  areThoseOf(value: JsonObject): boolean {
    let last = -1;
    let alwaysWritten = 0;
    for (const key of Object.keys(value)) {
      const field = this.byName.get(key);
      if (field === undefined || field.position <= last || value[key] === undefined || value[key] === null)
        return false;
      last = field.position;
      if (field.absent !== undefined) alwaysWritten++;
    }
    return alwaysWritten === this.#alwaysWritten;
  }
}

/** The struct itself where all of its fields are in their final form. */
function decodeParts(value: JsonObject, { byName }: StructFields, run: Run): JsonObject {
  let object = value;
  for (const key of Object.keys(value)) {
    const given = value[key] as JsonValue;
    const decoded = decodeField(byName.get(key) as FieldDecoder, given, run);
    if (decoded === given) continue;
    if (object === value) object = shallowCopy(value);
    if (decoded === undefined) delete object[key];
    else object[key] = decoded;
  }
  return object;
}

function fieldDecoder(field: Field, position: number): FieldDecoder {
  const decoder = decoderOf(field.schema);
  return {
    name: field.name,
    position,
    segment: { field: field.name },
    decoder,
    absent: absentValue(field, decoder),
    omitsEmpty: field.omitEmpty && !field.pointer && !isStructLike(field.schema),
    omitsNull: field.pointer || field.omitZero,
  };
}

/** Go's rules of what an unset field prints. */
function absentValue(field: Field, decoder: Decoder): (() => JsonValue) | undefined {
  if (field.pointer) return field.omitEmpty ? undefined : () => null;
  if (isStructLike(field.schema)) {
    return field.omitZero ? undefined : () => decoder.zeroElement();
  }
  if (field.omitEmpty) return undefined;
  const isNilable = field.schema.kind !== "scalar" || field.schema.scalar === "bytes";
  return isNilable ? () => null : () => decoder.zeroElement();
}

/** A struct in Go, which `omitempty` does not leave out. */
function isStructLike(schema: Schema): boolean {
  return schema.kind === "struct" || (schema.kind === "scalar" && scalarCodecs[schema.scalar].structLike);
}

function pathText(segments: readonly PlaceSegment[]): string {
  let path = "";
  for (const segment of segments) {
    if (typeof segment === "number") path += `[${segment}]`;
    else path += `${path === "" ? "" : "."}${keyOf(segment)}`;
  }
  return path;
}

function keyOf(segment: PlaceSegment): string | number {
  if (typeof segment === "number") return segment;
  return "field" in segment ? segment.field : segment.key;
}
