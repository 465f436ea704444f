import { type FieldError, fieldError } from "../field-error.ts";
import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue, sortedJson } from "../json.ts";
import { fieldErrorsMax } from "../validation/labels.ts";
import { type OpenApiSchema, valuesOf } from "./open-api-schema.ts";

/** Items that are compared before others get their turn. */
const itemsPerStep = 500;

/** Reports whether a schema is that of a list that allows no duplicates. */
export function isUnique({ "x-kubernetes-list-type": type }: OpenApiSchema): boolean {
  return type === "set" || type === "map";
}

/** Checks that sets contain no value twice, and keyed lists no key. Yields now and then in long lists. */
export function* validateListTypes(object: JsonObject, schema: OpenApiSchema): Generator<void, FieldError[]> {
  const errors: FieldError[] = [];
  for (const list of uniqueListsOf(object, schema, "", [])) {
    if (errors.length >= fieldErrorsMax) break;
    errors.push(...(yield* problemsOf(list)));
  }
  return errors;
}

interface UniqueList {
  readonly items: readonly JsonValue[];
  readonly schema: OpenApiSchema;
  readonly path: string;
}

function uniqueListsOf(value: JsonValue, schema: OpenApiSchema, path: string, found: UniqueList[]): UniqueList[] {
  if (Array.isArray(value)) {
    if (isUnique(schema)) found.push({ items: value, schema, path });
    if (schema.items === undefined) return found;
    for (const [at, item] of value.entries()) {
      if (typeof item === "object") uniqueListsOf(item, schema.items, `${path}[${at}]`, found);
    }
    return found;
  }
  if (!isJsonObject(value)) return found;
  const values = valuesOf(schema);
  for (const name of Object.keys(value)) {
    const field = value[name] as JsonValue;
    if (typeof field !== "object" || field === null) continue;
    const property = schema.properties?.[name];
    if (property !== undefined) uniqueListsOf(field, property, path === "" ? name : `${path}.${name}`, found);
    else if (values !== undefined) uniqueListsOf(field, values, `${path}[${name}]`, found);
  }
  return found;
}

function* problemsOf({ items, schema, path }: UniqueList): Generator<void, FieldError[]> {
  if (schema["x-kubernetes-list-type"] === "set") return yield* duplicates(items, path, (item) => item);
  const stranger = items.findIndex((item) => item !== null && !isJsonObject(item));
  if (stranger >= 0) {
    const text = "must be an object for an array of list-type map";
    return [fieldError.invalid(`${path}[${stranger}]`, sortedJson(items[stranger] as JsonValue), text)];
  }
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  return yield* duplicates(items, path, (item) => keysOf(item as JsonObject | null, names));
}

function keysOf(item: JsonObject | null, names: readonly string[]): JsonObject {
  const keys = emptyJsonObject();
  for (const name of names) {
    const value = item?.[name];
    if (value !== undefined) keys[name] = value;
  }
  return keys;
}

/** Reports the second occurrence of each value, and no further ones. */
function* duplicates(
  list: readonly JsonValue[],
  path: string,
  valueOf: (item: JsonValue) => JsonValue,
): Generator<void, FieldError[]> {
  if (list.length < 2) return [];
  const counts = new Map<string, number>();
  const errors: FieldError[] = [];
  for (const [at, item] of list.entries()) {
    if ((at + 1) % itemsPerStep === 0) yield;
    const value = valueOf(item);
    const key = identityOf(value);
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count === 2 && errors.length < fieldErrorsMax)
      errors.push(fieldError.duplicate(`${path}[${at}]`, sortedJson(value)));
  }
  return errors;
}

/** Returns a text that is equal for equal values only. */
function identityOf(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(identityOf).join(",")}]`;
  if (isJsonObject(value)) {
    const fields = Object.keys(value).sort();
    return `{${fields.map((name) => `${JSON.stringify(name)}:${identityOf(value[name] as JsonValue)}`).join(",")}}`;
  }
  return typeof value === "string" ? JSON.stringify(value) : String(value);
}
