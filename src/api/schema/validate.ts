import { type FieldError, fieldError } from "../field-error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { Field, ScalarSchema, Schema, StructSchema } from "./schema.ts";

/** Maximum number of problems reported for one object, to keep the Status readable. */
export const maxSchemaErrors = 100;

/** Fields that have rules of their own (metadata) or are written by trusted components (status). */
const skippedAtRoot: ReadonlySet<string> = new Set(["metadata", "status"]);

/** Fields published as required whose empty text or list is a valid value. */
const mayBeEmpty: ReadonlySet<string> = new Set(["core/v1.HTTPHeader.value", "core/v1.Sysctl.value"]);

/**
 * Checks the rules that follow from the type alone: required texts and lists, and closed sets of values. The object must
 * be decoded and defaulted. Rules between fields belong to the resource's Strategy.
 * @returns at most `maxSchemaErrors`, in order of declaration
 */
export function validateSchema(schema: StructSchema, object: JsonObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const check of planOf(schema)) {
    if (!skippedAtRoot.has(check.field.name)) validateField(check, object, "", errors);
  }
  return errors.slice(0, maxSchemaErrors);
}

interface Check {
  readonly field: Field;
  readonly required: boolean;
  readonly descends: boolean;
}

const plans = new WeakMap<StructSchema, readonly Check[]>();

/** Returns checks for the fields that can have a problem. */
function planOf(schema: StructSchema): readonly Check[] {
  let plan = plans.get(schema);
  if (plan === undefined) {
    plan = [...schema.fields.values()]
      .map((field) => ({ field, required: isRequired(schema, field), descends: hasChecks(field.schema, new Set()) }))
      .filter(({ required, descends }) => required || descends);
    plans.set(schema, plan);
  }
  return plan;
}

/**
 * Reports whether a field is required. A zero number or struct looks like an absent one and is rarely wrong, so only
 * texts and lists count.
 */
function isRequired(owner: StructSchema, field: Field): boolean {
  if (!field.required || mayBeEmpty.has(`${owner.name}.${field.name}`)) return false;
  if (field.pointer || field.schema.kind === "list") return true;
  return field.schema.kind === "scalar" && field.schema.scalar === "string";
}

function hasChecks(schema: Schema, seen: Set<StructSchema>): boolean {
  switch (schema.kind) {
    case "scalar":
      return schema.values !== undefined;
    case "list":
      return hasChecks(schema.items, seen);
    case "map":
      return hasChecks(schema.values, seen);
    case "struct":
      if (seen.has(schema)) return false;
      seen.add(schema);
      return [...schema.fields.values()].some((field) => isRequired(schema, field) || hasChecks(field.schema, seen));
  }
}

function validateField(
  { field, required, descends }: Check,
  owner: JsonObject,
  path: string,
  errors: FieldError[],
): void {
  const value = owner[field.name];
  const at = path === "" ? field.name : `${path}.${field.name}`;
  if (value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)) {
    if (required) errors.push(fieldError.required(at));
    else if (value === "" && field.pointer) validateValue(field.schema, value, at, errors);
    return;
  }
  if (descends) validateValue(field.schema, value, at, errors);
}

function validateValue(schema: Schema, value: JsonValue, path: string, errors: FieldError[]): void {
  if (errors.length >= maxSchemaErrors) return;
  switch (schema.kind) {
    case "scalar":
      return validateScalar(schema, value, path, errors);
    case "list":
      if (!Array.isArray(value)) return;
      for (const [index, item] of value.entries()) validateValue(schema.items, item, `${path}[${index}]`, errors);
      return;
    case "map":
      if (!isJsonObject(value)) return;
      for (const key of Object.keys(value)) {
        validateValue(schema.values, value[key] as JsonValue, `${path}[${key}]`, errors);
      }
      return;
    case "struct":
      if (!isJsonObject(value)) return;
      for (const check of planOf(schema)) validateField(check, value, path, errors);
      return;
  }
}

function validateScalar({ values }: ScalarSchema, value: JsonValue, path: string, errors: FieldError[]): void {
  if (values === undefined || (typeof value === "string" && values.includes(value))) return;
  errors.push(fieldError.notSupported(path, value, values.toSorted()));
}
