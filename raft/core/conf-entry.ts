import { assert } from "./assert.ts";
import type { MemberId } from "./ids.ts";
import { toMemberId } from "./ids.ts";
import type { Membership } from "./membership.ts";

/**
 * The data of a `confChange` entry:
 *
 *     version u8 · 4 × (count u16 · count × member u64) · context        big-endian
 *
 * The lists are voters, outgoing, learners, learnersNext. The entry holds the whole membership rather than the
 * difference, so only the newest one in the log matters (thesis §4.1).
 */
const version = 1;
const countBytes = 2;
const memberBytes = 8;
const wordSize = 2 ** 32;

export interface ConfEntry {
  readonly membership: Membership;
  readonly context: Uint8Array;
}

export function encodeConfEntry({ membership, context }: ConfEntry): Uint8Array {
  const lists = [membership.voters, membership.outgoing, membership.learners, membership.learnersNext];
  const size = lists.reduce((sum, list) => sum + countBytes + list.length * memberBytes, 1);
  const data = new Uint8Array(size + context.length);
  const view = new DataView(data.buffer);
  view.setUint8(0, version);
  let at = 1;
  for (const list of lists) {
    view.setUint16(at, list.length);
    at += countBytes;
    for (const member of list) {
      view.setUint32(at, Math.floor(member / wordSize));
      view.setUint32(at + 4, member % wordSize);
      at += memberBytes;
    }
  }
  data.set(context, at);
  return data;
}

/** Decodes an entry's data. @throws RaftInvariantError or RangeError for data that `encodeConfEntry` did not make */
export function decodeConfEntry(data: Uint8Array): ConfEntry {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  assert(data.length > 0 && view.getUint8(0) === version, () => "a membership entry of an unknown version");
  let at = 1;
  const list = (): MemberId[] => {
    const count = view.getUint16(at);
    at += countBytes;
    return Array.from({ length: count }, () => {
      const member = view.getUint32(at) * wordSize + view.getUint32(at + 4);
      at += memberBytes;
      return toMemberId(member);
    });
  };
  const membership = { voters: list(), outgoing: list(), learners: list(), learnersNext: list() };
  return { membership, context: data.subarray(at) };
}
