/** The kinds of types that the checker distinguishes. */
export type TypeKind =
  | "any"
  | "bool"
  | "bytes"
  | "double"
  | "duration"
  | "dyn"
  | "error"
  | "int"
  | "list"
  | "map"
  | "null"
  | "opaque"
  | "param"
  | "string"
  | "struct"
  | "timestamp"
  | "type"
  | "uint";

const noParameters: readonly CelType[] = [];

/** A type, both of expressions and as a value (`type(1) == int`). Types with equal names are the same type at run time. */
export class CelType {
  readonly kind: TypeKind;
  /** The name that programs see at run time. */
  readonly name: string;
  readonly parameters: readonly CelType[];
  /** Whether null may be assigned, as with the wrapper messages of protobuf. */
  readonly nullable: boolean;

  constructor(kind: TypeKind, name: string, parameters: readonly CelType[] = noParameters, nullable = false) {
    this.kind = kind;
    this.name = name;
    this.parameters = parameters;
    this.nullable = nullable;
  }

  get first(): CelType {
    return this.parameters[0] ?? dynType;
  }

  get second(): CelType {
    return this.parameters[1] ?? dynType;
  }
}

export const dynType = new CelType("dyn", "dyn");
export const anyType = new CelType("any", "google.protobuf.Any");
export const boolType = new CelType("bool", "bool");
export const bytesType = new CelType("bytes", "bytes");
export const doubleType = new CelType("double", "double");
export const durationType = new CelType("duration", "google.protobuf.Duration");
export const errorType = new CelType("error", "!error!");
export const intType = new CelType("int", "int");
export const nullType = new CelType("null", "null_type");
export const stringType = new CelType("string", "string");
export const timestampType = new CelType("timestamp", "google.protobuf.Timestamp");
export const typeType = new CelType("type", "type");
export const uintType = new CelType("uint", "uint");
export const optionalTypeName = "optional_type";
/** The types of values whose parameters are not known at run time. */
export const anyListType = new CelType("list", "list", [dynType]);
export const anyMapType = new CelType("map", "map", [dynType, dynType]);
export const anyOptionalType = new CelType("opaque", optionalTypeName);

export function listOf(element: CelType): CelType {
  return new CelType("list", "list", [element]);
}

export function mapOf(key: CelType, value: CelType): CelType {
  return new CelType("map", "map", [key, value]);
}

export function optionalOf(value: CelType): CelType {
  return new CelType("opaque", optionalTypeName, [value]);
}

export function opaqueOf(name: string, ...parameters: CelType[]): CelType {
  return new CelType("opaque", name, parameters);
}

export function structOf(name: string): CelType {
  return new CelType("struct", name);
}

export function paramOf(name: string): CelType {
  return new CelType("param", name);
}

export function typeOf(type: CelType): CelType {
  return new CelType("type", "type", [type]);
}

export function nullableOf(type: CelType): CelType {
  return new CelType(type.kind, type.name, type.parameters, true);
}

export function isOptionalType(type: CelType): boolean {
  return type.kind === "opaque" && type.name === optionalTypeName;
}

export function isDynamic(type: CelType): boolean {
  return type.kind === "dyn" || type.kind === "any";
}

/** Returns the type as messages of the checker show it. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case "any":
      return "any";
    case "duration":
      return "duration";
    case "error":
      return "!error!";
    case "null":
      return "null";
    case "timestamp":
      return "timestamp";
    case "param":
      return type.name;
    default:
      if (type.parameters.length === 0) return declaredName(type);
      return `${type.name}(${type.parameters.map(formatType).join(", ")})`;
  }
}

/** Returns the type with the names of its declaration, as `google.protobuf.Timestamp`. */
export function typeText(type: CelType): string {
  if (type.kind === "param") return `<${type.name}>`;
  if (type.parameters.length === 0) return declaredName(type);
  return `${declaredName(type)}(${type.parameters.map(typeText).join(", ")})`;
}

function declaredName(type: CelType): string {
  return type.nullable ? `wrapper(${type.name})` : type.name;
}

/** Reports whether two types are the same, including the names of type parameters if `comparesParams` is set. */
export function sameType(a: CelType, b: CelType, comparesParams = true): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || a.parameters.length !== b.parameters.length) return false;
  if ((comparesParams || a.kind !== "param") && a.name !== b.name) return false;
  return a.parameters.every((parameter, at) => sameType(parameter, b.parameters[at] ?? dynType, comparesParams));
}

/** Reports whether a value of type `from` may be used where `to` is declared. Does not handle type variables. */
export function isDeclaredAssignable(to: CelType, from: CelType): boolean {
  if (to === from || isDynamic(to) || to.kind === "param") return true;
  if (to.nullable && from.kind === "null") return true;
  if (to.kind !== from.kind || to.name !== from.name || to.parameters.length !== from.parameters.length) return false;
  return to.parameters.every((parameter, at) => isDeclaredAssignable(parameter, from.parameters[at] ?? dynType));
}
