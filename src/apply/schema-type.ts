import { compareTexts } from "../api/code-points.ts";
import type { JsonValue } from "../api/json.ts";
import type { Field, ScalarKind, Schema, StructSchema } from "../api/schema/schema.ts";
import { fieldElement } from "./path-element.ts";
import {
  deduced,
  deducedObject,
  type FieldType,
  type ListType,
  type MapType,
  type ScalarType,
  scalarType,
  untypedAtomic,
  type ValueType,
} from "./value-type.ts";

const scalarTypes: { readonly [scalar in ScalarKind]: ScalarType | ValueType } = {
  string: "string",
  bool: "boolean",
  int32: "numeric",
  int64: "numeric",
  uint8: "numeric",
  uint32: "numeric",
  uint64: "numeric",
  float64: "numeric",
  bytes: "string",
  any: deduced,
  rawExtension: untypedAtomic,
  quantity: "untyped",
  intOrString: "untyped",
  time: "untyped",
  microTime: "untyped",
  duration: "string",
  fieldsV1: deducedObject,
};
const scalars = new Map<ScalarType, ValueType>();
const structs = new WeakMap<StructSchema, ValueType>();

/** The type of a built-in kind's document, or of any struct. */
export function schemaType(schema: StructSchema): ValueType {
  let type = structs.get(schema);
  if (type === undefined) {
    type = { scalar: undefined, list: undefined, map: new StructMap(schema, schema.atomic) };
    structs.set(schema, type);
  }
  return type;
}

/** Fields are compiled on first use: a struct may hold itself. */
class StructMap implements MapType {
  readonly atomic: boolean;
  readonly values = undefined;
  readonly free = false;
  readonly #schema: StructSchema;
  #fields: ReadonlyMap<string, FieldType> | undefined;

  constructor(schema: StructSchema, atomic: boolean) {
    this.#schema = schema;
    this.atomic = atomic;
  }

  get fields(): ReadonlyMap<string, FieldType> {
    this.#fields ??= compileFields(this.#schema);
    return this.#fields;
  }
}

function compileFields(schema: StructSchema): ReadonlyMap<string, FieldType> {
  const fields = new Map<string, FieldType>();
  if (schema.typeMeta === true) {
    for (const name of ["kind", "apiVersion"]) fields.set(name, fieldOf(name, sharedScalar("string"), undefined));
  }
  for (const field of schema.fields.values())
    fields.set(field.name, fieldOf(field.name, typeOfField(field), keyDefault(field)));
  return fields;
}

export function fieldOf(name: string, type: ValueType, keyDefault: JsonValue | undefined): FieldType {
  return { element: fieldElement(name), type, keyDefault };
}

/** A field that is always written has its zero value as default in the published schema. */
function keyDefault({ default: declared, schema, pointer, omitEmpty }: Field): JsonValue | undefined {
  if (declared !== undefined || pointer || omitEmpty || schema.kind !== "scalar") return declared;
  switch (scalarTypes[schema.scalar]) {
    case "string":
      return "";
    case "numeric":
      return 0;
    case "boolean":
      return false;
    default:
      return undefined;
  }
}

function typeOfField(field: Field): ValueType {
  const { schema } = field;
  if (schema.kind === "list") return listOf(schema.items, field);
  if (schema.kind === "struct") return structOf(schema, field.mapType);
  return schema.kind === "map" ? mapOf(schema.values, field.mapType === "atomic") : typeOf(schema);
}

/** A field may want another rule than the type of its value has. */
function structOf(schema: StructSchema, mapType: Field["mapType"]): ValueType {
  const atomic = mapType === undefined ? schema.atomic : mapType === "atomic";
  if (atomic === schema.atomic) return schemaType(schema);
  return { scalar: undefined, list: undefined, map: new StructMap(schema, atomic) };
}

function listOf(items: Schema, { listType, listMapKeys }: Pick<Field, "listType" | "listMapKeys">): ValueType {
  const list: ListType = {
    atomic: listType === "atomic",
    keys: listType === "map" ? [...listMapKeys].sort(compareTexts) : [],
    declaredKeys: listMapKeys,
    items: typeOf(items),
  };
  return { scalar: undefined, list, map: undefined };
}

function mapOf(values: Schema, atomic: boolean): ValueType {
  return {
    scalar: undefined,
    list: undefined,
    map: { atomic, fields: new Map(), values: typeOf(values), free: false },
  };
}

/** Returns the type of a list item or a map's value. */
function typeOf(schema: Schema): ValueType {
  switch (schema.kind) {
    case "struct":
      return schemaType(schema);
    case "list":
      return listOf(schema.items, { listType: "atomic", listMapKeys: [] });
    case "map":
      return mapOf(schema.values, false);
    case "scalar": {
      const type = scalarTypes[schema.scalar];
      return typeof type === "string" ? sharedScalar(type) : type;
    }
  }
}

function sharedScalar(scalar: ScalarType): ValueType {
  let type = scalars.get(scalar);
  if (type === undefined) {
    type = scalarType(scalar);
    scalars.set(scalar, type);
  }
  return type;
}
