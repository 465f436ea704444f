import { compareTexts } from "../code-points.ts";
import { cloneJson, emptyJsonObject, isJsonObject, type JsonObject, type JsonValue, shallowCopy } from "../json.ts";
import { DecodeTypeError, goStructName, goTypeOf, type PlaceSegment, placeOf, wrongType } from "./decode-error.ts";
import { type PlaceOf, scalarCodecs } from "./decode-scalar.ts";
import { type DecodeAlternative, foremostError } from "./foremost-error.ts";
import { isEmptyCollection, keepGivenEmpty, noteGivenEmpty } from "./given-empty.ts";
import type { Field, ListSchema, MapSchema, ScalarSchema, Schema, StructSchema } from "./schema.ts";

/** Limit of the nesting of structs; built-in types need no more than a few dozen. */
export const maxDecodeDepth = 512;
/** Limit of the unknown fields reported of one document; the rest is dropped without a report. */
export const maxUnknownFields = 100;

export interface Decoded {
  /**
   * Known fields in order of declaration, with `kind` and `apiVersion`, if given, in front. Shares free-form JSON with
   * the input and, with `takesOver`, every part that is already in its final form.
   */
  readonly object: JsonObject;
  /** Paths such as `spec.containers[0].foo` of the dropped fields, in document order. At most `maxUnknownFields`. */
  readonly unknownFields: string[];
}

/**
 * Returns the document as kube-apiserver would have it after decoding it into its type and encoding it again: unknown
 * fields and nulls are gone, quantities, times and base64 are canonical, and zero values are left out or written as the
 * type says.
 * @param options.kind names the type in the error for a document that is not an object
 * @param options.takesOver reuses unchanged parts of the input instead of copying them; the caller must not change it later
 * @param options.settled a decoded document, whose parts are not decoded again where the input has them at the same places
 * @throws DecodeTypeError when a value has the wrong type or form
 */
export function decodeTyped(
  schema: StructSchema,
  value: JsonValue,
  options: { readonly kind: string; readonly takesOver?: boolean; readonly settled?: JsonObject | undefined },
): Decoded {
  const run = new Run(options.takesOver ?? false);
  if (value !== null && !isJsonObject(value)) {
    const goPackage = goTypeOf(schema).split(".")[0] as string;
    throw wrongType(value, `${goPackage}.${options.kind}`, undefined);
  }
  const object = decodeRoot(schema, value ?? {}, run, options.settled);
  return { object, unknownFields: inDocumentOrder(run.unknown, value ?? {}).map(pathText) };
}

/** Fields are decoded as the type declares them; an error is then looked up in the order of the document. */
function decodeRoot(schema: StructSchema, value: JsonObject, run: Run, settled: JsonObject | undefined): JsonObject {
  try {
    return structDecoder(schema).decode(value, run, settled) as JsonObject;
  } catch (error) {
    if (!(error instanceof DecodeTypeError)) throw error;
    throw foremostError(schema, value, decodeAlternative) ?? error;
  }
}

const decodeAlternative: DecodeAlternative = (alternative, value, segments) => {
  const run = new Run(false);
  run.segments.push(...segments);
  new AlternativeDecoder(alternative).decode(value, run);
};

/**
 * Sorts places into the order in which a reader of the text meets them; those of a struct come after those of its known
 * fields. Visits each object on the way once, however many places it holds.
 * @param depth the number of leading segments that all places share and that lead to `value`
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

/** State of one call. */
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

  /** Returns false when no more are reported. */
  reportUnknown(name: string): boolean {
    if (this.unknown.length >= maxUnknownFields) return false;
    this.unknown.push([...this.segments, { field: name }]);
    return true;
  }
}

interface Decoder {
  /**
   * Decodes a value that is not null.
   * @param settled the value at the same place of a decoded document, which may have parts of this one
   */
  decode(value: JsonValue, run: Run, settled?: JsonValue): JsonValue;
  /** Returns the value that replaces null inside a list or a map. */
  zeroElement(): JsonValue;
  /** Reports whether `omitempty` leaves out the value. */
  isEmpty(value: JsonValue): boolean;
}

interface FieldDecoder {
  readonly name: string;
  /** Position among the fields of its struct. */
  readonly position: number;
  readonly segment: PlaceSegment;
  readonly schema: Schema;
  readonly decoder: Decoder;
  /** True for a plain text, which is already in its final form. */
  readonly isText: boolean;
  /** Makes the value that is written when the field is absent; undefined if nothing is. */
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

  decode(value: JsonValue, run: Run, settled?: JsonValue): JsonValue {
    if (!isJsonObject(value)) throw wrongType(value, goTypeOf(this.#schema), run.place());
    if (++run.depth > maxDecodeDepth) throw new DecodeTypeError("exceeded max depth");
    const outerStruct = run.struct;
    run.struct = this.#name;
    this.#fields ??= new StructFields(this.#schema);
    const object = this.#fields.areThoseOf(value)
      ? decodeParts(value, this.#fields, run, settled)
      : this.#rebuild(value, this.#fields, run, settled);
    run.struct = outerStruct;
    run.depth--;
    return object;
  }

  #rebuild(value: JsonObject, { inOrder }: StructFields, run: Run, settled: JsonValue | undefined): JsonObject {
    const object = emptyJsonObject();
    let known = this.#schema.typeMeta === true ? decodeTypeMeta(value, object, run) : 0;
    for (const field of inOrder) {
      const given = value[field.name];
      if (given !== undefined) known++;
      const isSet = given !== undefined && given !== null;
      const result = isSet ? decodeField(field, given, run, settled) : field.absent?.();
      if (result !== undefined) object[field.name] = result;
      else if (isSet && isEmptyCollection(field.schema, given)) noteGivenEmpty(object, field.name);
    }
    keepGivenEmpty(value, object);
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

  decode(value: JsonValue, run: Run, settled?: JsonValue): JsonValue {
    if (!Array.isArray(value)) throw wrongType(value, goTypeOf(this.#schema), run.place());
    this.#items ??= decoderOf(this.#schema.items);
    const items = this.#items;
    const at = run.segments.push(0) - 1;
    let list = run.takesOver ? value : [...value];
    for (let index = 0; index < value.length; index++) {
      run.segments[at] = index;
      const item = value[index] as JsonValue;
      const before = Array.isArray(settled) ? settled[index] : undefined;
      if (item === before) continue;
      const decoded = item === null ? items.zeroElement() : items.decode(item, run, before);
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
  readonly #holdsTexts: boolean;
  #values: Decoder | undefined;

  constructor(schema: MapSchema) {
    this.#schema = schema;
    this.#holdsTexts = isText(schema.values);
  }

  decode(value: JsonValue, run: Run, settled?: JsonValue): JsonValue {
    if (!isJsonObject(value)) throw wrongType(value, goTypeOf(this.#schema), run.place());
    this.#values ??= decoderOf(this.#schema.values);
    const values = this.#values;
    let map = inKeyOrder(value, run.takesOver);
    const at = run.segments.push(0) - 1;
    for (const key in value) {
      const given = value[key] as JsonValue;
      if (this.#holdsTexts && typeof given === "string") continue;
      const before = isJsonObject(settled) ? settled[key] : undefined;
      if (given === before) continue;
      run.segments[at] = { key };
      const decoded = given === null ? values.zeroElement() : values.decode(given, run, before);
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

/** Returns the map with its keys in the order in which Go writes them; itself if it is so, and may be taken over. */
function inKeyOrder(map: JsonObject, takesOver: boolean): JsonObject {
  const keys = Object.keys(map);
  const inOrder = keysInOrderAtStart(keys);
  if (inOrder === keys.length) return takesOver && Object.getPrototypeOf(map) === null ? map : shallowCopy(map);
  const ordered = emptyJsonObject();
  for (const key of sortedKeys(keys, inOrder)) ordered[key] = map[key] as JsonValue;
  return ordered;
}

/** Returns the number of keys before the first one that is out of order. */
function keysInOrderAtStart(keys: readonly string[]): number {
  for (let at = 1; at < keys.length; at++) {
    if (compareTexts(keys[at - 1] as string, keys[at] as string) > 0) return at;
  }
  return keys.length;
}

/** Returns sorted keys. Many of them are in order already: a patch adds a key or two behind them. */
function sortedKeys(keys: readonly string[], inOrder: number): string[] {
  const sorted: string[] = [];
  let next = 0;
  for (const key of keys.slice(inOrder).sort(compareTexts)) {
    while (next < inOrder && compareTexts(keys[next] as string, key) < 0) sorted.push(keys[next++] as string);
    sorted.push(key);
  }
  return sorted.concat(keys.slice(next, inOrder));
}

/** Decodes a type that is either a struct or something else: a list of structs, or a flag. */
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

  /** Upstream drops unknown fields here without a warning. */
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

/** Decoders of kind and apiVersion, which precede the fields of the type. */
const typeMetaDecoders = ["kind", "apiVersion"].map((name, at): FieldDecoder => {
  const schema: ScalarSchema = { kind: "scalar", scalar: "string" };
  return {
    name,
    position: at - 2,
    segment: { field: name },
    schema,
    decoder: decoderOf(schema),
    isText: true,
    absent: undefined,
    omitsEmpty: true,
    omitsNull: true,
  };
});

/** Decodes kind and apiVersion. Returns the number of keys that belong to the type. */
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

/** @param settledStruct what `decode` of the struct has for `settled` */
function decodeField(
  field: FieldDecoder,
  given: JsonValue,
  run: Run,
  settledStruct: JsonValue | undefined,
): JsonValue | undefined {
  const settled = isJsonObject(settledStruct) ? settledStruct[field.name] : undefined;
  if (given === settled) return given;
  if (field.isText && typeof given === "string") return given === "" && field.omitsEmpty ? undefined : given;
  run.segments.push(field.segment);
  const value = field.decoder.decode(given, run, settled);
  run.segments.pop();
  if (field.omitsEmpty && field.decoder.isEmpty(value)) return undefined;
  return value === null && field.omitsNull ? undefined : value;
}

/** Decoders of the fields of a struct. */
class StructFields {
  readonly inOrder: readonly FieldDecoder[];
  readonly byName: ReadonlyMap<string, FieldDecoder>;
  /** Fields that are written even when nothing sets them. */
  readonly #alwaysWritten: number;

  constructor(schema: StructSchema) {
    this.inOrder = [...schema.fields.values()].map((field, position) => fieldDecoder(field, position));
    const inFront = schema.typeMeta === true ? typeMetaDecoders : [];
    this.byName = new Map([...inFront, ...this.inOrder].map((field) => [field.name, field]));
    this.#alwaysWritten = this.inOrder.filter(({ absent }) => absent !== undefined).length;
  }

  /** Reports whether `value` has exactly the keys of its decoded form, in order. */
  areThoseOf(value: JsonObject): boolean {
    let last = Number.NEGATIVE_INFINITY;
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

/** Returns the struct itself if it may be taken over and all of its fields are in their final form. */
function decodeParts(
  value: JsonObject,
  { byName }: StructFields,
  run: Run,
  settled: JsonValue | undefined,
): JsonObject {
  let object = run.takesOver ? value : shallowCopy(value);
  for (const key of Object.keys(value)) {
    const given = value[key] as JsonValue;
    const decoded = decodeField(byName.get(key) as FieldDecoder, given, run, settled);
    if (decoded === given) continue;
    if (object === value) object = shallowCopy(value);
    if (decoded !== undefined) {
      object[key] = decoded;
      continue;
    }
    delete object[key];
    if (isEmptyCollection((byName.get(key) as FieldDecoder).schema, given)) noteGivenEmpty(object, key);
  }
  if (object !== value) keepGivenEmpty(value, object);
  return object;
}

function fieldDecoder(field: Field, position: number): FieldDecoder {
  const decoder = decoderOf(field.schema);
  return {
    name: field.name,
    position,
    segment: { field: field.name, ...(field.embeddedIn === undefined ? {} : { embeddedIn: field.embeddedIn }) },
    schema: field.schema,
    decoder,
    isText: isText(field.schema),
    absent: absentValue(field, decoder),
    omitsEmpty: field.omitEmpty && !field.pointer && !isStructLike(field.schema),
    omitsNull: field.pointer || field.omitZero,
  };
}

/** Returns a function that makes the value that Go prints for an unset field. */
function absentValue(field: Field, decoder: Decoder): (() => JsonValue) | undefined {
  if (field.pointer) return field.omitEmpty ? undefined : () => null;
  if (isStructLike(field.schema)) {
    return field.omitZero ? undefined : () => decoder.zeroElement();
  }
  if (field.omitEmpty) return undefined;
  const isNilable = field.schema.kind !== "scalar" || field.schema.scalar === "bytes";
  return isNilable ? () => null : () => decoder.zeroElement();
}

function isText(schema: Schema): boolean {
  return schema.kind === "scalar" && schema.scalar === "string" && schema.alternative === undefined;
}

/** Reports whether a type is a struct in Go, which `omitempty` does not leave out. */
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
