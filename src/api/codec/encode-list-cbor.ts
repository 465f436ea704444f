import type { JsonObject, JsonValue } from "../json.ts";
import { encodeCbor } from "./cbor.ts";
import type { ListHead } from "./list-head.ts";

const tagBytes = 3;
const mapOfFour = 0xa4;
const listType = 0x80;

/**
 * Yields a list as CBOR, in parts: one tag in front, and keys in the order of their encoded form, which puts short ones
 * first.
 */
export function* cborListParts(
  { kind, apiVersion, metadata, itemsField, isNull = false }: ListHead,
  count: number,
  items: Iterable<JsonObject>,
): Generator<Uint8Array> {
  yield encodeCbor(kind).subarray(0, tagBytes);
  yield Uint8Array.of(mapOfFour);
  yield* [item("kind"), item(kind), item(itemsField), isNull ? item(null) : listHead(count)];
  for (const document of items) yield item(document);
  yield* [item("metadata"), item(metadata), item("apiVersion"), item(apiVersion)];
}

/** Encodes a value without the tag that marks a whole document. */
function item(value: JsonValue): Uint8Array {
  return encodeCbor(value).subarray(tagBytes);
}

/** Encodes the head of a list: that of a number equal to its length, with another type in the upper bits. */
function listHead(count: number): Uint8Array {
  const head = item(count);
  head[0] = (head[0] as number) | listType;
  return head;
}
