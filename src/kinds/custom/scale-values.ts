import { type FieldError, fieldError } from "../../api/field-error.ts";
import { goInterfaceType, goText } from "../../api/go-text.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../api/json.ts";
import type { CustomResourceSubresourceScale } from "../../api/types/apiextensions-v1.ts";

const replicasMax = 2 ** 31 - 1;

/** A value at a path, or why there can be none. An absent value is undefined. */
export type PathValue<T> = { readonly value: T | undefined } | { readonly problem: string };

/** Returns the whole number at a path such as `.spec.replicas`. */
export function numberAt(object: JsonObject, path: string): PathValue<number | bigint> {
  const found = valueAt(object, namesOf(path));
  if ("problem" in found) return found;
  const { value } = found;
  if (value === undefined) return { value };
  const isNumber = typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));
  return isNumber ? { value } : { problem: accessProblem(namesOf(path), value, "int64") };
}

/** Returns the text at a path such as `.status.selector`. */
export function textAt(object: JsonObject, path: string): PathValue<string> {
  const found = valueAt(object, namesOf(path));
  if ("problem" in found) return found;
  const { value } = found;
  if (value === undefined || typeof value === "string") return { value };
  return { problem: accessProblem(namesOf(path), value, "string") };
}

/** Splits a path such as `.spec.replicas` at its dots. */
export function namesOf(path: string): string[] {
  return (path.startsWith(".") ? path.slice(1) : path).split(".");
}

function valueAt(object: JsonObject, names: readonly string[]): PathValue<JsonValue> {
  let value: JsonValue = object;
  for (const [at, name] of names.entries()) {
    if (value === null) return { value: undefined };
    if (!isJsonObject(value)) {
      return { problem: accessProblem(names.slice(0, at + 1), value, "map[string]interface{}") };
    }
    if (!Object.hasOwn(value, name)) return { value: undefined };
    value = value[name] as JsonValue;
  }
  return { value };
}

function accessProblem(names: readonly string[], value: JsonValue, expected: string): string {
  const path = `.${names.join(".")}`;
  return `${path} accessor error: ${goText(value)} is of the type ${goInterfaceType(value)}, expected ${expected}`;
}

/** Checks the count that the scale subresource takes from the spec. */
export function validateScaleSpec(object: JsonObject, scale: CustomResourceSubresourceScale): FieldError[] {
  return validateReplicas(object, scale.specReplicasPath);
}

/** Checks the count and the selector that the scale subresource takes from the status. */
export function validateScaleStatus(object: JsonObject, scale: CustomResourceSubresourceScale): FieldError[] {
  const errors = validateReplicas(object, scale.statusReplicasPath);
  const { labelSelectorPath } = scale;
  if (labelSelectorPath === undefined) return errors;
  const selector = textAt(object, labelSelectorPath);
  return "problem" in selector ? [...errors, fieldError.invalid(labelSelectorPath, "", selector.problem)] : errors;
}

function validateReplicas(object: JsonObject, path: string): FieldError[] {
  const found = numberAt(object, path);
  if ("problem" in found) return [fieldError.invalid(path, 0, found.problem)];
  const count = found.value ?? 0;
  if (count < 0) return [fieldError.invalid(path, count, "should be a non-negative integer")];
  if (count <= replicasMax) return [];
  return [fieldError.invalid(path, count, `should be less than or equal to ${replicasMax}`)];
}
