import type { JsonObject } from "../api/json.ts";
import type { ManagedFieldsEntry } from "../api/object-meta.ts";
import { fieldSetText } from "../api/codec/field-set-documents.ts";
import { stringifyJson } from "../api/codec/json.ts";

/** Returns `metadata.managedFields` as JSON. The text of each field set is made once, for it costs more than the object. */
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
