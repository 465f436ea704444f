import { type FieldError, fieldError } from "../../../api/field-error.ts";
import type { DownwardAPIVolumeFile } from "../../../api/types/core-v1.ts";
import { validateUnreservedPath } from "../../../api/validation/local-path.ts";
import { validateEach } from "../../../api/validation/validate-each.ts";
import { validateFieldReference, validateResourceReference, volumeFieldPaths } from "./field-reference.ts";
import { validateFileMode } from "./key-reference.ts";

/** Validates fields of a pod as files. Upstream names the volume in these errors, not the item of its list. */
export function validateDownwardFiles(files: readonly DownwardAPIVolumeFile[], field: string): FieldError[] {
  return validateEach(files, (file) => validateDownwardFile(file, field));
}

export function validateDownwardFile(file: DownwardAPIVolumeFile, field: string): FieldError[] {
  const { path, mode } = file;
  return [
    ...(path === "" ? [fieldError.required(`${field}.path`)] : []),
    ...validateUnreservedPath(path, `${field}.path`),
    ...validateSource(file, field),
    ...validateFileMode(mode, `${field}.mode`),
  ];
}

function validateSource({ fieldRef, resourceFieldRef }: DownwardAPIVolumeFile, field: string): FieldError[] {
  if (fieldRef !== undefined) {
    const errors = validateFieldReference(fieldRef, volumeFieldPaths, `${field}.fieldRef`);
    if (resourceFieldRef === undefined) return errors;
    const text = "fieldRef and resourceFieldRef can not be specified simultaneously";
    return [...errors, fieldError.invalid(field, "resource", text)];
  }
  if (resourceFieldRef !== undefined) {
    return validateResourceReference(resourceFieldRef, `${field}.resourceFieldRef`, true);
  }
  return [fieldError.required(field, "one of fieldRef and resourceFieldRef is required")];
}
