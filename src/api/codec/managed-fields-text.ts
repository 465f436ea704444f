import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import type { ManagedFieldsEntry } from "../object-meta.ts";
import { fieldSetText } from "./field-set-documents.ts";
import { stringifyJson } from "./json.ts";

/**
 * Returns the compact JSON of a document. The native encoder is ten times slower on an object whose keys need escapes, as
 * those of field sets do, so that the text of managedFields is put in by itself.
 */
export function stringifyObject(document: JsonObject): string {
  const metadata = document["metadata"];
  const entries = isJsonObject(metadata) ? metadata["managedFields"] : undefined;
  if (!isJsonObject(metadata) || !Array.isArray(entries) || !entries.every(isJsonObject))
    return stringifyJson(document);
  return textWith("metadata", textWith("managedFields", managedFieldsText(entries), metadata), document);
}

/** Returns the JSON of an object whose member of this name has this text. */
function textWith(name: string, text: string, object: JsonObject): string {
  const members: string[] = [];
  for (const [key, value] of Object.entries(object)) {
    if ((value as JsonValue | undefined) === undefined) continue;
    members.push(`${stringifyJson(key)}:${key === name ? text : stringifyJson(value)}`);
  }
  return `{${members.join(",")}}`;
}

/**
 * Returns `metadata.managedFields` as JSON. The text of each field set is made once, because it costs more than the
 * object.
 */
export function managedFieldsText(entries: readonly ManagedFieldsEntry[]): string {
  return `[${entries.map(entryText).join(",")}]`;
}

function entryText(entry: ManagedFieldsEntry): string {
  const { fieldsV1, subresource, ...before } = entry;
  if (typeof fieldsV1 !== "object" || fieldsV1 === null) return stringifyJson(entry as JsonObject);
  const head = stringifyJson(before as JsonObject).slice(0, -1);
  const end = subresource === undefined ? "" : `,"subresource":${stringifyJson(subresource)}`;
  return `${head}${head === "{" ? "" : ","}"fieldsV1":${fieldSetText(fieldsV1 as JsonObject)}${end}}`;
}
