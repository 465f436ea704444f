import type { Entry } from "../api/entry.ts";

/** The limit of the sums, which a double represents exactly. */
const modulus = 2 ** 48;

/**
 * A number that is equal for equal sets of current objects: the sum of their checksums, in any order. A body contains its
 * resourceVersion, so the same object at another revision changes the sum.
 */
export type StateHash = number;

export const emptyHash: StateHash = 0;

export function withEntry(hash: StateHash, entry: Entry): StateHash {
  return (hash + digest(entry)) % modulus;
}

export function withoutEntry(hash: StateHash, entry: Entry): StateHash {
  return (hash + modulus - digest(entry)) % modulus;
}

export function hashOf(entries: Iterable<Entry>): StateHash {
  let hash = emptyHash;
  for (const entry of entries) hash = withEntry(hash, entry);
  return hash;
}

function digest({ key, body }: Entry): number {
  const crc = Bun.hash.crc32(body, Bun.hash.crc32(key));
  // Spreads the checksum over the sum's bits, so that small differences of two checksums do not cancel out.
  return crc * 0xffff + (crc >>> 16);
}
