import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { JsonObject, JsonValue } from "../../../api/json.ts";
import { validateUnreservedPath } from "../../../api/validation/local-path.ts";
import { configKeyProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { isPresent, numberOf, objectsOf, textOf } from "../../../api/json-reading.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const fileModeMax = 0o777;

/** One key of a ConfigMap or Secret. */
export function validateKeyReference(reference: JsonObject, field: string): FieldError[] {
  const name = textOf(reference["name"]);
  const key = textOf(reference["key"]);
  const names = dnsSubdomainProblems(name).map((problem) => fieldError.invalid(`${field}.name`, name, problem));
  if (key === "") return [...names, fieldError.required(`${field}.key`)];
  return [...names, ...configKeyProblems(key).map((problem) => fieldError.invalid(`${field}.key`, key, problem))];
}

/** Keys of a ConfigMap or Secret, and the files that they become. */
export function validateKeysToPaths(items: JsonValue | undefined, field: string): FieldError[] {
  return validateEach(objectsOf(items), (item, at) => {
    const path = textOf(item["path"]);
    return [
      ...(textOf(item["key"]) === "" ? [fieldError.required(`${field}[${at}].key`)] : []),
      ...(path === "" ? [fieldError.required(`${field}[${at}].path`)] : []),
      ...validateUnreservedPath(path, `${field}[${at}].path`),
      ...validateFileMode(item["mode"], `${field}[${at}].mode`),
    ];
  });
}

export function validateFileMode(mode: JsonValue | undefined, field: string): FieldError[] {
  if (!isPresent(mode) || (numberOf(mode) >= 0 && numberOf(mode) <= fileModeMax)) return [];
  return [fieldError.invalid(field, mode, "must be a number between 0 and 0777 (octal), both inclusive")];
}
