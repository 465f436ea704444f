import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { OpenApiSchema } from "../../../api/structural/open-api-schema.ts";

const listTypes = ["atomic", "set", "map"];
const mapTypes = ["atomic", "granular"];

interface ListRatchets {
  readonly requiresAtomicSets: boolean;
}

/** Checks the extensions that say how lists and maps are merged. */
export function validateListAndMapTypes(
  schema: OpenApiSchema,
  path: string,
  { requiresAtomicSets }: ListRatchets,
): FieldError[] {
  const errors: FieldError[] = [];
  if (schema["x-kubernetes-preserve-unknown-fields"] === false) {
    errors.push(fieldError.invalid(`${path}.x-kubernetes-preserve-unknown-fields`, false, "must be true or undefined"));
  }
  const mapType = schema["x-kubernetes-map-type"];
  if (mapType !== undefined) {
    if (schema.type !== "object") errors.push(wrongType(schema, path, "object", "x-kubernetes-map-type"));
    if (!mapTypes.includes(mapType)) {
      errors.push(fieldError.notSupported(`${path}.x-kubernetes-map-type`, mapType, mapTypes));
    }
  }
  const listType = schema["x-kubernetes-list-type"];
  if (listType !== undefined) {
    if (schema.type !== "array") errors.push(wrongType(schema, path, "array", "x-kubernetes-list-type"));
    else if (requiresAtomicSets && listType === "set") errors.push(...validateSetItems(schema, path));
    if (!listTypes.includes(listType)) {
      errors.push(fieldError.notSupported(`${path}.x-kubernetes-list-type`, listType, listTypes));
    }
  }
  return [...errors, ...validateMapKeys(schema, path)];
}

function wrongType({ type }: OpenApiSchema, path: string, wanted: string, extension: string): FieldError {
  const detail = `must be ${wanted} if ${extension} is specified`;
  return type === undefined
    ? fieldError.required(`${path}.type`, detail)
    : fieldError.invalid(`${path}.type`, type, detail);
}

function validateSetItems({ items }: OpenApiSchema, path: string): FieldError[] {
  const extension = items === undefined ? undefined : granularExtension(items);
  if (extension === undefined) return [];
  // Upstream shows the list type of the items, whichever extension it is about.
  const shown = items?.["x-kubernetes-list-type"] ?? null;
  const detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
  return [fieldError.invalid(`${path}.items.${extension}`, shown, detail)];
}

/** Returns the extension for which items do not count as one value; undefined if they do. */
export function granularExtension(items: OpenApiSchema): string | undefined {
  const listType = items["x-kubernetes-list-type"];
  if (items.type === "array")
    return listType !== undefined && listType !== "atomic" ? "x-kubernetes-list-type" : undefined;
  return items.type === "object" && items["x-kubernetes-map-type"] !== "atomic" ? "x-kubernetes-map-type" : undefined;
}

function validateMapKeys(schema: OpenApiSchema, path: string): FieldError[] {
  const { items, itemSchemas } = schema;
  const listType = schema["x-kubernetes-list-type"];
  const keys = schema["x-kubernetes-list-map-keys"] ?? [];
  const errors: FieldError[] = [];
  if (keys.length > 0 && listType !== "map") {
    const [field, detail] = [
      `${path}.x-kubernetes-list-type`,
      "must be map if x-kubernetes-list-map-keys is non-empty",
    ];
    errors.push(
      listType === undefined ? fieldError.required(field, detail) : fieldError.invalid(field, listType, detail),
    );
  }
  if (listType !== "map") return errors;
  const keysField = `${path}.x-kubernetes-list-map-keys`;
  if (keys.length === 0)
    errors.push(fieldError.required(keysField, "must not be empty if x-kubernetes-list-type is map"));
  if (items === undefined && itemSchemas === undefined) {
    errors.push(fieldError.required(`${path}.items`, "must have a schema if x-kubernetes-list-type is map"));
  }
  if (items === undefined) return errors;
  if (items.type !== "object") {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    return [...errors, fieldError.invalid(`${path}.items.type`, items.type ?? "", detail)];
  }
  const seen = new Set<string>();
  for (const key of keys) {
    const property = items.properties?.[key];
    if (property === undefined) {
      errors.push(fieldError.invalid(keysField, [...keys], "entries must all be names of item properties"));
    } else if (property.type === "array" || property.type === "object") {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(fieldError.invalid(`${path}.items.properties[${key}].type`, items.type, detail));
    }
    if (seen.has(key)) errors.push(fieldError.invalid(keysField, [...keys], "must not contain duplicate entries"));
    seen.add(key);
  }
  return errors;
}

/** Checks that items of sets and keyed lists are never null, and that items of keyed lists always have their keys. */
export function validateListKeys(schema: OpenApiSchema, path: string): FieldError[] {
  const { items } = schema;
  const listType = schema["x-kubernetes-list-type"];
  if (items === undefined || (listType !== "set" && listType !== "map")) return [];
  const errors: FieldError[] = [];
  if (items.nullable === true) {
    const detail = `cannot be nullable when x-kubernetes-list-type is ${listType}`;
    errors.push(fieldError.forbidden(`${path}.items.nullable`, detail));
  }
  if (listType === "set") return errors;
  for (const key of schema["x-kubernetes-list-map-keys"] ?? []) {
    const property = items.properties?.[key];
    if (property === undefined) continue;
    const field = `${path}.items.properties[${key}]`;
    const subject = "this property is in x-kubernetes-list-map-keys, so it";
    if (property.default === undefined && !(items.required ?? []).includes(key)) {
      errors.push(fieldError.required(`${field}.default`, `${subject} must have a default or be a required property`));
    }
    if (property.nullable === true)
      errors.push(fieldError.forbidden(`${field}.nullable`, `${subject} cannot be nullable`));
  }
  return errors;
}
