import type { Entry } from "../entry.ts";
import type { ObjectMeta } from "../object-meta.ts";
import { toBytes, toText } from "./byte-text.ts";
import { metadataBytes, metadataIncludes } from "./stored-object.ts";

const deletionMark = toBytes('"deletionTimestamp":');

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

/** Reports whether the object is being deleted. Decodes only the metadata, and only if they contain the mark. */
export function isBeingDeleted(entry: Entry): boolean {
  return maybeDeleting(entry) && storedMetadata(entry).deletionTimestamp !== undefined;
}
