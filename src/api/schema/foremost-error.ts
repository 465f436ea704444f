import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { DecodeTypeError, goStructName, goTypeOf, type PlaceSegment, placeOf, wrongType } from "./decode-error.ts";
import { scalarCodecs } from "./decode-scalar.ts";
import type { ListSchema, MapSchema, ScalarSchema, Schema, StructSchema } from "./schema.ts";

/** Limit of the nesting that is searched. */
const searchDepthMax = 512;

/** Decodes a value that is either a struct or something else, at a place, only for its error. @throws DecodeTypeError */
export type DecodeAlternative = (
  alternative: NonNullable<ScalarSchema["alternative"]>,
  value: JsonValue,
  segments: readonly PlaceSegment[],
) => void;

/**
 * Finds the error that Go reports for a document that does not fit its type; undefined if it fits. Go reads the
 * document from start to end. It notes the first value of a wrong type and continues. An error of a type that decodes
 * itself, such as a time, ends the reading and is reported instead of the noted one.
 */
export function foremostError(
  schema: StructSchema,
  document: JsonObject,
  decodeAlternative: DecodeAlternative,
): DecodeTypeError | undefined {
  const search = new Search(decodeAlternative);
  try {
    search.struct(schema, document);
  } catch (error) {
    if (error instanceof DecodeTypeError) return error;
    throw error;
  }
  return search.noted;
}

class Search {
  noted: DecodeTypeError | undefined;
  readonly #decodeAlternative: DecodeAlternative;
  readonly #segments: PlaceSegment[] = [];
  #struct = "";
  #depth = 0;

  constructor(decodeAlternative: DecodeAlternative) {
    this.#decodeAlternative = decodeAlternative;
  }

  struct(schema: StructSchema, value: JsonValue): void {
    if (!isJsonObject(value)) return this.#note(this.#wrongType(value, schema));
    if (this.#depth === searchDepthMax) return;
    this.#depth++;
    const outer = this.#struct;
    this.#struct = goStructName(schema.name);
    for (const key of Object.keys(value)) this.#field(schema, key, value[key]);
    this.#struct = outer;
    this.#depth--;
  }

  #field(schema: StructSchema, key: string, value: JsonValue | undefined): void {
    const field = schema.fields.get(key);
    if (field !== undefined) {
      this.#below({ field: key, embeddedIn: field.embeddedIn ?? [] }, field.schema, value);
    } else if (schema.typeMeta === true && (key === "kind" || key === "apiVersion")) {
      this.#below({ field: key, embeddedIn: ["TypeMeta"] }, plainText, value);
    }
  }

  #below(segment: PlaceSegment, schema: Schema, value: JsonValue | undefined): void {
    if (value === undefined || value === null) return;
    this.#segments.push(segment);
    this.#value(schema, value);
    this.#segments.pop();
  }

  #value(schema: Schema, value: JsonValue): void {
    switch (schema.kind) {
      case "struct":
        return this.struct(schema, value);
      case "list":
        return this.#list(schema, value);
      case "map":
        return this.#map(schema, value);
      case "scalar":
        return this.#scalar(schema, value);
    }
  }

  #list(schema: ListSchema, value: JsonValue): void {
    if (!Array.isArray(value)) return this.#note(this.#wrongType(value, schema));
    for (const [at, item] of value.entries()) this.#below(at, schema.items, item);
  }

  #map(schema: MapSchema, value: JsonValue): void {
    if (!isJsonObject(value)) return this.#note(this.#wrongType(value, schema));
    for (const key of Object.keys(value)) this.#below({ key }, schema.values, value[key]);
  }

  #scalar(schema: ScalarSchema, value: JsonValue): void {
    if (schema.alternative !== undefined) return this.#decodeAlternative(schema.alternative, value, this.#segments);
    const { decode, structLike } = scalarCodecs[schema.scalar];
    try {
      decode(value, () => this.#place(), schema.goType);
    } catch (error) {
      if (structLike || !(error instanceof DecodeTypeError)) throw error;
      this.#note(error);
    }
  }

  #note(error: DecodeTypeError): void {
    this.noted ??= error;
  }

  #wrongType(value: JsonValue, schema: Schema): DecodeTypeError {
    return wrongType(value, goTypeOf(schema), this.#place());
  }

  #place() {
    return placeOf(this.#struct, this.#segments);
  }
}

const plainText: ScalarSchema = { kind: "scalar", scalar: "string" };
