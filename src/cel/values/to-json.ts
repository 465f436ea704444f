import { toText } from "./conversion.ts";
import type { Json } from "./json-value.ts";
import { itemsOf } from "./lists.ts";
import { entriesOf } from "./maps.ts";
import {
  Duration,
  isError,
  List,
  OpaqueValue,
  type Result,
  Timestamp,
  typeOfValue,
  Uint,
  type Value,
  ValueMap,
} from "./value.ts";

/** Reports a value that has no form in JSON. */
export class NoJsonForm extends Error {
  override readonly name = "NoJsonForm";
}

/** A value of a library that has a form in JSON. */
export interface HasJsonForm {
  toJsonForm(): Json;
}

/**
 * Returns a value as a document. Bytes become base64, times and durations text.
 * @throws NoJsonForm
 */
export function toJson(result: Result): Json {
  if (isError(result)) throw new NoJsonForm(result.message);
  switch (typeof result) {
    case "bigint":
      return Number.isSafeInteger(Number(result)) ? Number(result) : result;
    case "string":
    case "number":
    case "boolean":
      return result;
    default:
      return result === null ? null : objectToJson(result);
  }
}

function objectToJson(value: Exclude<Value, string | number | bigint | boolean | null>): Json {
  if (value instanceof List) return [...itemsOf(value)].map(toJson);
  if (value instanceof ValueMap) return mapToJson(value);
  if (value instanceof Uint) return toJson(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Timestamp || value instanceof Duration) return toJson(toText(value));
  if (value instanceof OpaqueValue && hasJsonForm(value)) return value.toJsonForm();
  throw new NoJsonForm(`type conversion error from '${typeOfValue(value).name}' to 'google.protobuf.Value'`);
}

function hasJsonForm(value: OpaqueValue): value is OpaqueValue & HasJsonForm {
  return "toJsonForm" in value;
}

function mapToJson(map: ValueMap): Json {
  const fields: Record<string, Json> = Object.create(null);
  for (const [key, item] of entriesOf(map)) {
    if (typeof key !== "string") throw new NoJsonForm(`map key "${String(key)}" is of type ${typeof key}, not string`);
    fields[key] = toJson(item);
  }
  return fields;
}
