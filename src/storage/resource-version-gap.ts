import { copyOfBytes, indexOfBytes } from "../api/codec/byte-text.ts";
import type { Revision } from "../api/revision.ts";
import type { ProposedBody } from "./store.ts";

const quote = 0x22;
const zeroDigit = 0x30;
const mark = Buffer.from('"resourceVersion":"');

/**
 * Splits encoded bytes around their resourceVersion, so that the same state can be sent with another revision. The mark's
 * first occurrence is the right one: only plain string fields of metadata precede it, and JSON escapes quotes within
 * strings.
 */
export function splitAtResourceVersion(body: Uint8Array): ProposedBody {
  const start = indexOfBytes(body, mark);
  if (start < 0) throw new Error("stored body without a resourceVersion");
  const end = body.indexOf(quote, start + mark.length);
  return { prefix: copyOfBytes(body, 0, start + mark.length), suffix: copyOfBytes(body, end) };
}

/** Returns the final bytes: `prefix`, the revision in decimal, and `suffix`, in an array of exactly their length. */
export function fillGap({ prefix, suffix }: ProposedBody, revision: Revision): Uint8Array {
  const digits = String(revision);
  const gapEnd = prefix.byteLength + digits.length;
  const body = new Uint8Array(gapEnd + suffix.byteLength);
  body.set(prefix);
  for (let at = 0; at < digits.length; at++) body[prefix.byteLength + at] = zeroDigit + Number(digits[at]);
  body.set(suffix, gapEnd);
  return body;
}
