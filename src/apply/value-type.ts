import { isJsonObject, type JsonValue } from "../api/json.ts";
import type { PathElement } from "./path-element.ts";

/** The kinds of scalars that a place takes. `untyped` takes any of them. */
export type ScalarType = "numeric" | "string" | "boolean" | "untyped";

/**
 * The allowed values at one place, and the parts in which they are owned. A place without a type takes scalars, lists
 * and maps; most places take one of the three. Every place takes null.
 */
export interface ValueType {
  readonly scalar: ScalarType | undefined;
  readonly list: ListType | undefined;
  readonly map: MapType | undefined;
}

export interface ListType {
  /** An atomic list is owned as one value. */
  readonly atomic: boolean;
  /** Fields that identify items, in byte order; a list without them is a set. */
  readonly keys: readonly string[];
  /** The same fields as the schema lists them. */
  readonly declaredKeys: readonly string[];
  readonly items: ValueType;
}

/** The declared fields of a struct, by name. */
export type FieldTypes = Pick<ReadonlyMap<string, FieldType>, "get" | "has">;

/** A struct, a map, or both: fields it declares, and a type for all other keys. */
export interface MapType {
  readonly atomic: boolean;
  readonly fields: FieldTypes;
  /** Undefined where only declared fields may be. */
  readonly values: ValueType | undefined;
  /** Whether owners of the map remain when the schema changes, because its parts have no type of their own. */
  readonly free: boolean;
}

export interface FieldType {
  readonly element: PathElement;
  readonly type: ValueType;
  /** Stands for an absent key of a list item. */
  readonly keyDefault: JsonValue | undefined;
}

const noFields: FieldTypes = new Map();

export function scalarType(scalar: ScalarType): ValueType {
  return { scalar, list: undefined, map: undefined };
}

/** Any value, owned as a whole. */
export const untypedAtomic: ValueType = {
  scalar: "untyped",
  get list(): ListType {
    return untypedList;
  },
  get map(): MapType {
    return untypedAtomicMap;
  },
};
const untypedList: ListType = { atomic: true, keys: [], declaredKeys: [], items: untypedAtomic };
const untypedAtomicMap: MapType = { atomic: true, fields: noFields, values: untypedAtomic, free: false };

/** A value of unknown shape: objects are owned key by key at every depth, everything else as a whole. */
export const deduced: ValueType = {
  scalar: "untyped",
  list: untypedList,
  get map(): MapType {
    return deducedMap;
  },
};
const deducedMap: MapType = { atomic: false, fields: noFields, values: deduced, free: true };

/** An object of unknown shape. */
export const deducedObject: ValueType = { scalar: undefined, list: undefined, map: deducedMap };

/** The rule of its type that a value follows. A value that fits none of them follows the first. */
export type ValueKind = "scalar" | "list" | "map";

export function kindOf(type: ValueType, value: JsonValue): ValueKind {
  if (Array.isArray(value)) {
    if (type.list !== undefined) return "list";
  } else if (isJsonObject(value)) {
    if (type.map !== undefined) return "map";
  } else if (value !== null && type.scalar !== undefined) {
    return "scalar";
  }
  if (type.map !== undefined) return "map";
  return type.scalar === undefined ? "list" : "scalar";
}

/** The type of one key's value. */
export function typeOfKey(map: MapType, key: string): ValueType {
  return map.fields.get(key)?.type ?? map.values ?? untypedAtomic;
}
