import { toText } from "../api/codec/byte-text.ts";
import { metadataBytes, metadataIncludes } from "../api/codec/stored-object.ts";
import type { Entry } from "../api/entry.ts";
import type { ObjectMeta } from "../api/object-meta.ts";

const deletionMark = Buffer.from('"deletionTimestamp":');

/** Decodes only the metadata of a stored object. */
export function storedMetadata(entry: Entry): ObjectMeta {
  return JSON.parse(toText(metadataBytes(entry))) as ObjectMeta;
}

/**
 * Reports whether the object may be being deleted, without decoding it. A label of the same name causes a false positive;
 * there are no false negatives.
 */
export function maybeDeleting(entry: Entry): boolean {
  return metadataIncludes(entry, deletionMark);
}
