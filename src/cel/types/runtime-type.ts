import {
  EvaluationError,
  isError,
  List,
  type Result,
  typeOfValue,
  Uint,
  type Value,
  ValueMap,
} from "../values/value.ts";
import type { CelType } from "./cel-type.ts";
import type { Trait } from "./declarations.ts";

/** Reports whether a value may be passed where a type is declared. Examines only the first element of a list or map. */
export function isInstance(type: CelType, value: Value): boolean {
  switch (type.kind) {
    case "dyn":
    case "any":
    case "param":
      return true;
    case "string":
      return typeof value === "string";
    case "int":
      return typeof value === "bigint";
    case "list":
      return value instanceof List && (value.size === 0 || isResultInstance(type.first, value.at(0)));
    case "map":
      return value instanceof ValueMap && isFirstEntryInstance(type, value);
    default:
      return type.name === typeOfValue(value).name;
  }
}

function isResultInstance(type: CelType, result: Result): boolean {
  return isError(result) ? type.kind === "dyn" || type.kind === "param" : isInstance(type, result);
}

function isFirstEntryInstance(type: CelType, map: ValueMap): boolean {
  for (const key of map.keys()) {
    const value = map.find(key);
    return isInstance(type.first, key) && (value === undefined || isResultInstance(type.second, value));
  }
  return true;
}

const traitsByType: Readonly<Record<string, readonly Trait[]>> = {
  bool: ["compares", "negates"],
  bytes: ["adds", "compares", "has-size"],
  double: ["adds", "compares", "divides", "multiplies", "negates", "subtracts"],
  "google.protobuf.Duration": ["adds", "compares", "negates", "subtracts"],
  int: ["adds", "compares", "divides", "takes-modulus", "multiplies", "negates", "subtracts"],
  list: ["adds", "indexes", "has-size", "lists"],
  map: ["indexes", "has-size"],
  string: ["adds", "compares", "matches", "has-size"],
  "google.protobuf.Timestamp": ["adds", "compares", "subtracts"],
  uint: ["adds", "compares", "divides", "takes-modulus", "multiplies", "subtracts"],
};

export function hasTrait(value: Value, trait: Trait): boolean {
  return traitsByType[typeOfValue(value).name]?.includes(trait) ?? false;
}

/** Types whose values answer for calls that no overload takes. */
const receivers: ReadonlySet<string> = new Set(["string", "google.protobuf.Duration", "google.protobuf.Timestamp"]);

/** Returns the error of a call that the first operand's type does not support. */
export function unsupportedCall(functionName: string, first: Value): EvaluationError {
  return new EvaluationError(
    receivers.has(typeOfValue(first).name) ? "no such overload" : `no such overload: ${functionName}`,
  );
}

/** Returns the error of a call whose arguments no overload takes, with their types. */
export function unmatchedCall(functionName: string, args: readonly Value[]): EvaluationError {
  const types = args.map((arg) => typeOfValue(arg).name).join(", ");
  return new EvaluationError(`no such overload: ${functionName}(${types})`);
}

/** Returns the name that upstream's messages use for the representation of a value. */
export function representationName(value: Value): string {
  if (value instanceof List) return "*types.baseList";
  if (value instanceof ValueMap) return "*types.baseMap";
  if (value === null) return "types.Null";
  if (value instanceof Uint) return "types.Uint";
  const { kind, name } = typeOfValue(value);
  if (kind === "type") return "*types.Type";
  if (kind === "opaque" || kind === "struct") {
    return name === "optional_type" ? "*types.Optional" : `cel.${name.slice(name.lastIndexOf(".") + 1)}`;
  }
  const short = name.slice(name.lastIndexOf(".") + 1);
  return `types.${short.charAt(0).toUpperCase()}${short.slice(1)}`;
}
