import type { Entry } from "../api/entry.ts";

/** Sums stay below it, so that a double counts them exactly. */
const modulus = 2 ** 48;

/**
 * A number that is equal where the current objects are: the sum of a checksum of each, whatever their order. A body
 * holds its resourceVersion, so the same object at another revision counts as another.
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
  // Spread over the sum's bits: small differences of two checksums must not cancel out.
  return crc * 0xffff + (crc >>> 16);
}
