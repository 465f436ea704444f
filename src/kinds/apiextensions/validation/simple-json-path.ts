import { type FieldError, fieldError } from "../../../api/field-error.ts";

/** `.spec.replicas`: a path of names in dot notation. @param roots what it has to start with; any path when empty */
export function validateSimpleJsonPath(path: string, roots: readonly string[], field: string): FieldError[] {
  if (path === "") return [fieldError.invalid(field, path, "must not be empty")];
  if (!path.startsWith(".")) return [fieldError.invalid(field, path, "must be a simple json path starting with .")];
  if (roots.length === 0 || roots.some((root) => path.startsWith(`${root}.`))) return [];
  const where = roots.length === 1 ? roots[0] : `either ${roots.join(" or ")}`;
  return [fieldError.invalid(field, path, `should be a json path under ${where}`)];
}
