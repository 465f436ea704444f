import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { KeyToPath } from "../../../api/types/core-v1.ts";
import { validateUnreservedPath } from "../../../api/validation/local-path.ts";
import { configKeyProblems, dnsSubdomainProblems } from "../../../api/validation/names.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";

const fileModeMax = 0o777;

/** Validates a reference to one key of a ConfigMap or Secret. */
export function validateKeyReference(
  { name = "", key }: { readonly name?: string; readonly key: string },
  field: string,
): FieldError[] {
  const names = dnsSubdomainProblems(name).map((problem) => fieldError.invalid(`${field}.name`, name, problem));
  if (key === "") return [...names, fieldError.required(`${field}.key`)];
  return [...names, ...configKeyProblems(key).map((problem) => fieldError.invalid(`${field}.key`, key, problem))];
}

/** Validates keys of a ConfigMap or Secret, and the files that they become. */
export function validateKeysToPaths(items: readonly KeyToPath[], field: string): FieldError[] {
  return validateEach(items, ({ key, path, mode }, at) => [
    ...(key === "" ? [fieldError.required(`${field}[${at}].key`)] : []),
    ...(path === "" ? [fieldError.required(`${field}[${at}].path`)] : []),
    ...validateUnreservedPath(path, `${field}[${at}].path`),
    ...validateFileMode(mode, `${field}[${at}].mode`),
  ]);
}

export function validateFileMode(mode: number | undefined, field: string): FieldError[] {
  if (mode === undefined || (mode >= 0 && mode <= fileModeMax)) return [];
  return [fieldError.invalid(field, mode, "must be a number between 0 and 0777 (octal), both inclusive")];
}
