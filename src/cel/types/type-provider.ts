import {
  anyListType,
  anyMapType,
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  intType,
  nullType,
  stringType,
  timestampType,
  typeType,
  uintType,
} from "./cel-type.ts";
import { wellKnownField, wellKnownMessage } from "./well-known-messages.ts";

/** Knows object types by name. Environments ask it for what their declarations do not say. */
export interface TypeProvider {
  /** Returns the type that a message or object type of this name has, if there is one. */
  findStruct(name: string): CelType | undefined;
  findField(structName: string, field: string): CelType | undefined;
}

/** Knows the messages that are part of the language only. */
export const wellKnownTypes: TypeProvider = {
  findStruct: wellKnownMessage,
  findField: wellKnownField,
};

/** Asks `first`, and then `second`. */
export function joinProviders(first: TypeProvider, second: TypeProvider): TypeProvider {
  return {
    findStruct: (name) => first.findStruct(name) ?? second.findStruct(name),
    findField: (name, field) =>
      first.findStruct(name) === undefined ? second.findField(name, field) : first.findField(name, field),
  };
}

/** The names of types that expressions may use as values. */
export const namedTypes: ReadonlyMap<string, CelType> = new Map(
  [
    boolType,
    bytesType,
    doubleType,
    durationType,
    intType,
    anyListType,
    anyMapType,
    nullType,
    stringType,
    timestampType,
    typeType,
    uintType,
  ].map((type) => [type.name, type]),
);
