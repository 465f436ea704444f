import type { Index, Term } from "./ids.ts";

/**
 * - `normal`: a proposal; its data means something to the state machine only.
 * - `confChange`: the whole new membership, see `encodeConfEntry`.
 * - `empty`: what a new leader writes first, so that it can commit what its predecessors left (thesis §3.6.2, §6.4).
 */
export type EntryKind = "normal" | "confChange" | "empty";

/** One place in the log. Index and term together name its content, and all that comes before (log matching, §3.5). */
export interface Entry {
  readonly index: Index;
  readonly term: Term;
  readonly kind: EntryKind;
  readonly data: Uint8Array;
}

/** What an entry costs beside its data wherever bytes are bounded: in memory, in flight, uncommitted. */
export const entryOverheadBytes = 32;

export function entryBytes(entry: Entry): number {
  return entry.data.length + entryOverheadBytes;
}

export function bytesOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => sum + entryBytes(entry), 0);
}
