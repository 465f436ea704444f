import type { JsonValue } from "../../api/json.ts";

/** A value of a document, and its path of keys. */
export interface DocumentPart {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/**
 * A document in parts: a long one is built and encoded one part at a time. Parts with the same parent are adjacent.
 * Undefined stands for work that has made no part.
 */
export type DocumentParts = Iterable<DocumentPart | undefined>;

/** Encodes a document from its parts. */
export interface PartsWriter {
  add(part: DocumentPart): void;
  finish(): Uint8Array;
}

/** Encodes a document. Yields after each part. */
export function* encodeParts(parts: DocumentParts, writer: PartsWriter): Generator<void, Uint8Array> {
  for (const part of parts) {
    if (part !== undefined) writer.add(part);
    yield;
  }
  return writer.finish();
}
