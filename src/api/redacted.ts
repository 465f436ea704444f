import { isJsonObject, type JsonObject, type JsonValue } from "./json.ts";

const mask = "<redacted>";
const confidentialFields = ["data", "stringData"];
/** Holds a copy of the whole object. */
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

/** Returns a document of a sensitive kind, or a patch of one, for the text of an error: its values are masked. */
export function redacted<T extends JsonValue>(document: T): T {
  if (!isJsonObject(document)) return document;
  const shown: JsonObject = { ...document };
  for (const name of confidentialFields) if (shown[name] !== undefined) shown[name] = masked(shown[name]);
  const { metadata } = shown;
  if (isJsonObject(metadata) && isJsonObject(metadata["annotations"]) && lastApplied in metadata["annotations"]) {
    shown["metadata"] = { ...metadata, annotations: { ...metadata["annotations"], [lastApplied]: mask } };
  }
  return shown as T;
}

/** Keeps the names of the fields, and numbers, which no confidential field can hold. */
function masked(value: JsonValue): JsonValue {
  if (typeof value === "string") return mask;
  if (Array.isArray(value)) return value.map(masked);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, masked(part)]));
}
