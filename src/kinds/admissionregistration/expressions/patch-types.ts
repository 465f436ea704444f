import { celTypes, type Declared, jsonPatchLibrary, type TypeProvider } from "../../../cel/index.ts";
import { ObjectValue, objectType, PatchOperationValue, patchOperationType } from "./patch-values.ts";

const { dynType, opaqueOf, stringType, structOf } = celTypes;

/** Part of a type name is any text, so types of objects are made on first use. */
function objectTypeOf(name: string): celTypes.CelType | undefined {
  if (name === objectType.name) return objectType;
  return name.startsWith(`${objectType.name}.`) ? structOf(name) : undefined;
}

const operationFields: ReadonlyMap<string, celTypes.CelType> = new Map([
  ["op", stringType],
  ["path", stringType],
  ["from", stringType],
  ["value", dynType],
]);

/** Upstream's type of an operation has every field; those that it does not know have a type without a name. */
const unknownField = opaqueOf("");

const provider: TypeProvider = {
  findStruct: (name) => (name === patchOperationType.name ? patchOperationType : objectTypeOf(name)),
  findField: (name, field) =>
    name === patchOperationType.name ? (operationFields.get(field) ?? unknownField) : dynType,
};

/** The types and functions that make patches. */
export const patchDeclarations: Declared = {
  provider,
  libraries: [jsonPatchLibrary],
  constructorOf(name) {
    if (name === patchOperationType.name) return (fields) => new PatchOperationValue(fields);
    const type = objectTypeOf(name);
    return type === undefined ? undefined : (fields) => new ObjectValue(type, fields);
  },
};
