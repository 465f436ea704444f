import { type FieldError, fieldError } from "../../api/field-error.ts";
import type { JsonValue } from "../../api/json.ts";
import type { Json } from "../values/json-value.ts";

/** A problem that a rule finds in a field, or that a rule has itself. */
export interface RuleProblem {
  readonly kind: "Invalid" | "Required" | "Forbidden" | "Duplicate" | "NotSupported" | "InternalError";
  readonly field: string;
  readonly detail: string;
  /** The value to show in the message; absent if the message shows none. */
  readonly value?: Json;
}

/** Writes a problem as every field error of the API is written. */
export function toFieldError({ kind, field, detail, value }: RuleProblem): FieldError {
  switch (kind) {
    case "Required":
      return fieldError.required(field, detail);
    case "Forbidden":
      return fieldError.forbidden(field, detail);
    case "Duplicate":
      return fieldError.duplicate(field, value as JsonValue | undefined);
    case "NotSupported":
      return {
        field,
        reason: "FieldValueNotSupported",
        message: `Unsupported value: ${JSON.stringify(value)}: ${detail}`,
      };
    case "InternalError":
      return { field, reason: "InternalError", message: `Internal error: ${detail}` };
    case "Invalid":
      return value === undefined
        ? fieldError.invalidUnshown(field, detail)
        : fieldError.invalid(field, value as JsonValue, detail);
  }
}

/** The path of an object itself, as upstream writes it. */
export const rootPath = "<nil>";

/** Returns the path of a field, a key or an element below another one. */
export const fieldPath = {
  child: (path: string, name: string) => (path === "" || path === rootPath ? name : `${path}.${name}`),
  key: (path: string, key: string) => `${path === rootPath ? "" : path}[${key}]`,
  index: (path: string, index: number) => `${path}[${index}]`,
} as const;
