import type { Index, Term } from "./ids.ts";

/**
 * - `normal`: a proposal, whose data only the state machine interprets.
 * - `confChange`: the whole new membership, see `encodeConfEntry`.
 * - `empty`: the first entry of a new leader, which lets it commit the entries of its predecessors (thesis §3.6.2,
 *   §6.4).
 */
export type EntryKind = "normal" | "confChange" | "empty";

/**
 * One position in the log. Index and term together identify its content and all entries before it (log matching, §3.5).
 */
export interface Entry {
  readonly index: Index;
  readonly term: Term;
  readonly kind: EntryKind;
  readonly data: Uint8Array;
}

/** Bytes added to an entry's data wherever bytes are limited: in memory, in flight, uncommitted. */
export const entryOverheadBytes = 32;

export function entryBytes(entry: Entry): number {
  return entry.data.length + entryOverheadBytes;
}

export function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + entryBytes(entry), 0);
}
