import { type FieldError, fieldError } from "../field-error.ts";

/** A path inside a volume: relative, and never above where it starts. */
export function validateDescendingPath(path: string, field: string): FieldError[] {
  const errors = path.startsWith("/") ? [fieldError.invalid(field, path, "must be a relative path")] : [];
  return [...errors, ...validateNoBacksteps(path, field)];
}

export function validateNoBacksteps(path: string, field: string): FieldError[] {
  return hasBacksteps(path) ? [fieldError.invalid(field, path, "must not contain '..'")] : [];
}

/** A descending path that does not start with the two dots of a node agent's own files. */
export function validateUnreservedPath(path: string, field: string): FieldError[] {
  const reserved = path.startsWith("..") && !path.startsWith("../");
  const errors = reserved ? [fieldError.invalid(field, path, "must not start with '..'")] : [];
  return [...validateDescendingPath(path, field), ...errors];
}

export function hasBacksteps(path: string): boolean {
  return path.split("/").includes("..");
}
