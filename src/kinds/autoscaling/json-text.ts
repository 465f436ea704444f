import { JsonSyntaxError, parseJson } from "../../api/codec/json.ts";
import type { JsonValue } from "../../api/json.ts";

/** A document inside an annotation; undefined for anything else, as annotations are the clients' to write. */
export function parseJsonText(text: JsonValue | undefined): JsonValue | undefined {
  if (typeof text !== "string") return undefined;
  try {
    return parseJson(Buffer.from(text), { strict: false }).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}
