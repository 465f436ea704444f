import type { ProposedBody } from "./store.ts";

const mark = Buffer.from('"resourceVersion":"');

/**
 * Splits encoded bytes around their resourceVersion, so that the same state can be sent with another revision. The mark's
 * first occurrence is the right one: only plain string fields of metadata precede it, and JSON escapes quotes within
 * strings.
 */
export function splitAtResourceVersion(body: Uint8Array): ProposedBody {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const start = bytes.indexOf(mark);
  if (start < 0) throw new Error("stored body without a resourceVersion");
  const end = bytes.indexOf(0x22, start + mark.length);
  return { prefix: body.subarray(0, start + mark.length), suffix: body.subarray(end) };
}
