import { indexOfBytes } from "../api/codec/byte-text.ts";
import type { Entry } from "../api/entry.ts";

const quote = 0x22;
/** The mark of a resourceVersion behind another field. */
const nextField = Buffer.from('","resourceVersion":"');
const field = Buffer.from('"uid":"');

/** Returns the uid of an object; an empty text for a record that has none. */
export function uidOf({ index, body }: Pick<Entry, "index" | "body">): string {
  return index.uid ?? uidInBody(body) ?? "";
}

/**
 * Returns the uid that a stored body names, as its JSON spells it: the field before the resourceVersion. Returns undefined
 * for a body of another form. The part of the body before the gap for the resourceVersion is enough.
 */
export function uidInBody(body: Uint8Array): string | undefined {
  // The first mark is the right one: only plain string fields precede it, and JSON escapes quotes within strings.
  const end = indexOfBytes(body, nextField);
  let start = end;
  while (start > 0 && body[start - 1] !== quote) start--;
  const fieldAt = start - field.length;
  if (fieldAt < 0) return undefined;
  for (let at = 0; at < field.length; at++) if (body[fieldAt + at] !== field[at]) return undefined;
  return Buffer.prototype.utf8Slice.call(body, start, end);
}
