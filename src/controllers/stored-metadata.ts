import { metadataBytes } from "../api/codec/stored-object.ts";
import type { Entry } from "../api/entry.ts";
import type { ObjectMeta } from "../api/object-meta.ts";

const deletionMark = Buffer.from('"deletionTimestamp":');

/** Decodes the metadata of a stored object, and nothing else of it. */
export function storedMetadata(entry: Entry): ObjectMeta {
  return JSON.parse(bufferOf(entry).toString()) as ObjectMeta;
}

/**
 * Reports whether the object may be being deleted, without decoding it. A label of the same name makes it say yes too
 * often, never too seldom.
 */
export function maybeDeleting(entry: Entry): boolean {
  return bufferOf(entry).includes(deletionMark);
}

function bufferOf(entry: Entry): Buffer {
  const bytes = metadataBytes(entry);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
