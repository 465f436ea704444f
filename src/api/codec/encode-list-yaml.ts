import type { JsonObject } from "../json.ts";
import { toBytes } from "./byte-text.ts";
import type { ListHead } from "./list-head.ts";
import { stringifyYaml, yamlParts } from "./yaml.ts";

/**
 * Yields a list as YAML, in parts. As in all YAML of the API, keys are sorted, so the items appear between other
 * fields.
 */
export function* yamlListParts(head: ListHead, items: Iterable<JsonObject>): Generator<Uint8Array> {
  const { kind, apiVersion, metadata, extra, itemsField, isNull = false } = head;
  const fields = Object.entries({ kind, apiVersion, metadata, ...extra });
  yield fieldsText(fields.filter(([key]) => key < itemsField));
  let empty = true;
  for (const item of items) {
    if (empty) yield toBytes(`${itemsField}:\n`);
    for (const part of yamlParts([item])) yield toBytes(part);
    empty = false;
  }
  if (empty) yield toBytes(`${itemsField}: ${isNull ? "null" : "[]"}\n`);
  yield fieldsText(fields.filter(([key]) => key > itemsField));
}

function fieldsText(fields: readonly (readonly [string, JsonObject[string]])[]): Uint8Array {
  return toBytes(fields.length === 0 ? "" : stringifyYaml(Object.fromEntries(fields)));
}
