import { type FieldError, fieldError } from "../field-error.ts";
import { emptyJsonObject, isJsonObject, type JsonObject, type JsonValue, sortedJson } from "../json.ts";
import { fieldErrorsMax } from "../validation/labels.ts";
import { type OpenApiSchema, someSchema, valuesOf } from "./open-api-schema.ts";

/** Reports whether a schema has lists that allow no duplicates. */
export function hasUniqueLists(schema: OpenApiSchema): boolean {
  return someSchema(schema, ({ "x-kubernetes-list-type": type }) => type === "set" || type === "map");
}

/** Checks that sets contain no value twice, and keyed lists no key. */
export function validateListTypes(object: JsonObject, schema: OpenApiSchema): FieldError[] {
  const errors: FieldError[] = [];
  visit(object, schema, "", errors);
  return errors;
}

function visit(value: JsonValue, schema: OpenApiSchema, path: string, errors: FieldError[]): void {
  if (errors.length >= fieldErrorsMax) return;
  if (Array.isArray(value)) {
    const listType = schema["x-kubernetes-list-type"];
    if (listType === "set") errors.push(...duplicates(value, path));
    else if (listType === "map") errors.push(...keyProblems(value, schema, path));
    if (schema.items === undefined) return;
    for (const [at, item] of value.entries()) visit(item, schema.items, `${path}[${at}]`, errors);
    return;
  }
  if (!isJsonObject(value)) return;
  const values = valuesOf(schema);
  for (const name of Object.keys(value)) {
    const field = value[name] as JsonValue;
    if (typeof field !== "object" || field === null) continue;
    const property = schema.properties?.[name];
    if (property !== undefined) visit(field, property, path === "" ? name : `${path}.${name}`, errors);
    else if (values !== undefined) visit(field, values, `${path}[${name}]`, errors);
  }
}

function keyProblems(list: readonly JsonValue[], schema: OpenApiSchema, path: string): FieldError[] {
  const stranger = list.findIndex((item) => item !== null && !isJsonObject(item));
  if (stranger >= 0) {
    const text = "must be an object for an array of list-type map";
    return [fieldError.invalid(`${path}[${stranger}]`, sortedJson(list[stranger] as JsonValue), text)];
  }
  const names = schema["x-kubernetes-list-map-keys"] ?? [];
  const keys = list.map((item) => keysOf(item as JsonObject | null, names));
  return duplicates(keys, path);
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
function duplicates(list: readonly JsonValue[], path: string): FieldError[] {
  if (list.length < 2) return [];
  const counts = new Map<string, number>();
  const errors: FieldError[] = [];
  for (const [at, value] of list.entries()) {
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
