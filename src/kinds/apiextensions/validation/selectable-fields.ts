import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { type OpenApiSchema, valuesOf } from "../../../api/structural/open-api-schema.ts";
import type { SelectableField } from "../../../api/types/apiextensions-v1.ts";

const fieldsMax = 8;
const selectableTypes: ReadonlySet<string | undefined> = new Set(["string", "boolean", "integer"]);
const typeText =
  "must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.";

/** Checks that each field can be selected by. @param allowsTooMany as an update does that leaves them as they were */
export function validateSelectableFields(
  fields: readonly SelectableField[],
  schema: OpenApiSchema,
  field: string,
  allowsTooMany: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const known = new Set<string>();
  for (const [at, { jsonPath }] of fields.entries()) {
    const place = `${field}[${at}].jsonPath`;
    const found = jsonPath === "" ? undefined : findField(jsonPath, schema);
    if (found === undefined) errors.push(fieldError.required(place));
    else if ("problem" in found) {
      errors.push(fieldError.invalid(place, jsonPath, `is an invalid path: ${found.problem}`));
    } else {
      const { path, type } = found;
      const isMetadata = path === "metadata" || path.startsWith("metadata.");
      if (isMetadata) errors.push(fieldError.invalid(place, jsonPath, "must not point to fields in metadata"));
      if (!selectableTypes.has(type)) errors.push(fieldError.invalid(place, jsonPath, typeText));
      if (known.has(path)) errors.push(fieldError.duplicate(place, jsonPath));
      known.add(path);
    }
  }
  if (known.size > fieldsMax && !allowsTooMany) errors.push(fieldError.tooMany(field, known.size, fieldsMax));
  return errors;
}

/** Reports whether there are more fields than a definition may have. */
export function hasTooManyFields(fields: readonly SelectableField[] | undefined): boolean {
  return (fields ?? []).length > fieldsMax;
}

type FoundField = { readonly path: string; readonly type: string | undefined } | { readonly problem: string };

/** Follows a path in dot notation through a schema. */
function findField(jsonPath: string, root: OpenApiSchema): FoundField {
  const tokens = jsonPath.match(/[.[\]]|'(?:[^'\\]|\\[^])*'|[^.[\]]+/g) ?? [];
  let schema: OpenApiSchema = root;
  let path = "";
  for (let at = 0; at < tokens.length; at += 2) {
    const [token, name] = [tokens[at], tokens[at + 1]];
    if (token === "[") return { problem: "array notation is not allowed" };
    if (token !== ".") return { problem: `expected [ or . but got: ${token}` };
    if (name === undefined) return { problem: "unexpected end of JSON path" };
    const property = schema.properties?.[name];
    const next = schema.properties === undefined ? valuesOf(schema) : property;
    if (next === undefined) return { problem: "does not refer to a valid field" };
    if (schema.properties === undefined) path += `[${name}]`;
    else path += path === "" ? name : `.${name}`;
    schema = next;
  }
  return { path, type: schema.type };
}
