import type { JsonValue } from "../../api/json.ts";

/** A value of a document, and its path of keys. */
export interface DocumentPart {
  readonly path: readonly string[];
  readonly value: JsonValue;
}

/** A document in parts: a long one is built and encoded one part at a time. Parts with the same parent are adjacent. */
export type DocumentParts = Iterable<DocumentPart>;

/** Encodes a document from its parts. */
export interface PartsWriter {
  add(part: DocumentPart): void;
  finish(): Uint8Array;
}

/** Encodes a document. Yields after each part. */
export function* encodeParts(parts: DocumentParts, writer: PartsWriter): Generator<void, Uint8Array> {
  for (const part of parts) {
    writer.add(part);
    yield;
  }
  return writer.finish();
}
