import { type FieldError, fieldError } from "../../../api/field-error.ts";
import { equalJson, type JsonObject } from "../../../api/json.ts";
import type { ConfigMap } from "../../../api/types/core-v1.ts";
import { exceedKeyValueBytes, keyValueBytesMax, validateKeys } from "../../../api/validation/key-values.ts";

export const immutableSetText = "field is immutable when `immutable` is set";

export function validateConfigMap({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  const errors = validateKeys(data, "data");
  for (const key of Object.keys(data)) {
    if (Object.hasOwn(binaryData, key))
      errors.push(fieldError.invalid(`data[${key}]`, key, "duplicate of key present in binaryData"));
  }
  errors.push(...validateKeys(binaryData, "binaryData"));
  // The limit holds for the object as a whole: clients know the path without a name as `[]`.
  if (exceedKeyValueBytes(data, binaryData)) errors.push(fieldError.tooLong("[]", keyValueBytesMax));
  return errors;
}

export function validateConfigMapUpdate(configMap: ConfigMap, old: ConfigMap): FieldError[] {
  return [...validateFrozen(configMap, old, ["data", "binaryData"]), ...validateConfigMap(configMap)];
}

/** Once `immutable` is set, neither it nor the data can change. */
export function validateFrozen<T extends { immutable?: boolean }>(
  object: T,
  old: T,
  fields: readonly (keyof T & string)[],
): FieldError[] {
  if (old.immutable !== true) return [];
  const errors: FieldError[] = [];
  if (object.immutable !== true) errors.push(fieldError.forbidden("immutable", immutableSetText));
  for (const field of fields) {
    if (!equalJson((object[field] ?? {}) as JsonObject, (old[field] ?? {}) as JsonObject))
      errors.push(fieldError.forbidden(field, immutableSetText));
  }
  return errors;
}
