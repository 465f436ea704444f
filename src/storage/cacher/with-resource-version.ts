import type { Entry } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
/** The depth of metadata in `{"metadata":{…}`, if the object itself has depth 1. */
const metadataDepth = 2;

/**
 * Returns the same state with another resourceVersion, for a watcher whose object leaves its selection. `body` starts
 * with its metadata. Only the field of metadata itself changes, never a label or annotation of that name.
 */
export function withResourceVersion(body: Uint8Array, from: Revision, to: Revision): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const field = Buffer.from(`"resourceVersion":"${from}"`);
  const at = findInMetadata(bytes, field);
  if (at < 0) throw new Error(`stored body without the resourceVersion ${from}`);
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(`"resourceVersion":"${to}"`),
    bytes.subarray(at + field.length),
  ]);
}

/** Returns the entry as a watcher receives it: with the revision of the change that hid it. */
export function entryWithRevision(entry: Entry, revision: Revision): Entry {
  return { ...entry, revision, body: withResourceVersion(entry.body, entry.revision, revision) };
}

function findInMetadata(bytes: Buffer, field: Buffer): number {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === quote) {
      if (depth === metadataDepth && matchesAt(bytes, field, at)) return at;
      at = endOfString(bytes, at);
    } else if (byte === openBrace || byte === openBracket) depth++;
    else if (byte === closeBrace || byte === closeBracket) {
      depth--;
      if (depth < metadataDepth) return -1;
    }
  }
  return -1;
}

function matchesAt(bytes: Buffer, field: Buffer, at: number): boolean {
  return bytes.compare(field, 0, field.length, at, Math.min(bytes.length, at + field.length)) === 0;
}

/** Returns the index of the closing quote. */
function endOfString(bytes: Buffer, open: number): number {
  let at = open + 1;
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}
