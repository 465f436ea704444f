import type { JsonValue } from "../../api/json.ts";
import { jsonTypeName } from "../../api/json-type-name.ts";
import { type StatusError, status } from "../../api/status.ts";

/** The 400 for a patch that is not of the form of its type. */
export function wrongDocument(found: JsonValue, goType: string): StatusError {
  return status.badRequest(`error decoding patch: ${cannotUnmarshal(found, goType)}`);
}

/** `json: cannot unmarshal array into Go value of type map[string]interface {}`. */
export function cannotUnmarshal(found: JsonValue, goType: string): string {
  return `json: cannot unmarshal ${jsonTypeName(found)} into Go value of type ${goType}`;
}
