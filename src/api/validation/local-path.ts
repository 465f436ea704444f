import { type FieldError, fieldError } from "../field-error.ts";

/** Validates a path inside a volume: relative, and without `..`. */
export function validateDescendingPath(path: string, field: string): FieldError[] {
  const errors = path.startsWith("/") ? [fieldError.invalid(field, path, "must be a relative path")] : [];
  return [...errors, ...validateNoBacksteps(path, field)];
}

export function validateNoBacksteps(path: string, field: string): FieldError[] {
  return hasBacksteps(path) ? [fieldError.invalid(field, path, "must not contain '..'")] : [];
}

/** Validates such a path that also does not start with two dots, which the node agent reserves for its own files. */
export function validateUnreservedPath(path: string, field: string): FieldError[] {
  const reserved = path.startsWith("..") && !path.startsWith("../");
  const errors = reserved ? [fieldError.invalid(field, path, "must not start with '..'")] : [];
  return [...validateDescendingPath(path, field), ...errors];
}

export function hasBacksteps(path: string): boolean {
  return path.split("/").includes("..");
}
