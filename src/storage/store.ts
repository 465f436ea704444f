import type { Entry, Key, ObjectIndex } from "../api/entry.ts";
import type { Revision } from "../api/revision.ts";

/**
 * An object's bytes with the place where its resourceVersion goes: the state machine alone knows the revision.
 * `prefix + "<revision>" + suffix`; the quotes belong to prefix and suffix.
 */
export interface ProposedBody {
  readonly prefix: Uint8Array;
  readonly suffix: Uint8Array;
}

export type Expect =
  | { readonly kind: "absent" }
  | { readonly kind: "revision"; readonly revision: Revision }
  | { readonly kind: "any" };

export type Operation =
  | { readonly kind: "put"; readonly index: ObjectIndex; readonly body: ProposedBody }
  /** A deleted object's last state goes out with the revision of the deletion, so its bytes have the gap too. */
  | { readonly kind: "delete"; readonly last: ProposedBody };

/** A guarded write. The outcome is decided at apply, in command order, the same on every replica. */
export interface Command {
  readonly key: Key;
  readonly expect: Expect;
  readonly operation: Operation;
}

export type ApplyResult =
  /** `entry` is the new state, or for a delete the last state carrying the deletion's revision. */
  | { readonly kind: "applied"; readonly revision: Revision; readonly entry: Entry }
  /** The guard failed; `current` is what stood in the way (undefined: no such key). */
  | { readonly kind: "rejected"; readonly current: Entry | undefined };

/** One applied mutation. `entry.revision === revision`; for DELETED `entry` is the last state with that revision. */
export interface StoreEvent {
  readonly revision: Revision;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly entry: Entry;
  /** The state before; undefined exactly for ADDED. */
  readonly previous: Entry | undefined;
}

/** Reading history that compaction has removed. `oldest` is the oldest revision that can still be read. */
export class CompactedError extends Error {
  readonly oldest: Revision;
  constructor(oldest: Revision) {
    super(`history before revision ${oldest} is compacted`);
    this.name = "CompactedError";
    this.oldest = oldest;
  }
}

/** The store cannot answer: a failed disk, no leader, closed. */
export class StoreUnavailableError extends Error {
  /**
   * `unknown`: of a write, it may have happened or not: 504, never a guess. `notDone`: it has not happened and will not,
   * or it was a read: trying again is safe.
   */
  readonly outcome: "unknown" | "notDone";
  constructor(why: string, outcome: "unknown" | "notDone" = "unknown") {
    super(why);
    this.name = "StoreUnavailableError";
    this.outcome = outcome;
  }
}

/** A value whose bytes do not match their checksum or cannot be decoded. Named, so that it hides no other object. */
export class CorruptEntryError extends Error {
  readonly key: Key;
  constructor(key: Key, why: string) {
    super(`object ${key} cannot be read: ${why}`);
    this.name = "CorruptEntryError";
    this.key = key;
  }
}

/**
 * Called in revision order, in the same turn in which the batch became visible; must not throw or wait.
 * @param jumped the replica took over another state as a whole: the events are the difference between the two, in key
 * order, not what happened in between
 */
export type EventListener = (events: readonly StoreEvent[], revision: Revision, jumped: boolean) => void;

export interface Store {
  /** Newest applied revision. Starts at 1 on an empty store (0 is "any version" on the wire). */
  readonly revision: Revision;
  /** Reads and watches older than this fail with CompactedError. */
  readonly compactedRevision: Revision;

  /** Applies the command once; resolves when the result is durable. Rejects with StoreUnavailableError when the outcome is unknown. */
  commit(command: Command): Promise<ApplyResult>;
  /**
   * Linearizable read: local state then includes every write acknowledged before the call. At once where it does already.
   * @throws StoreUnavailableError when that cannot be confirmed in time
   */
  readBarrier(): Revision | Promise<Revision>;
  /** True once `store.revision >= revision`; false after `timeoutMs`. */
  waitFor(revision: Revision, timeoutMs: number): Promise<boolean>;

  /** Current state from memory. */
  get(key: Key): Entry | undefined;
  /** Number of current keys. */
  readonly size: number;
  /** Current entries below `prefix` in key order, from memory; a snapshot, unaffected by later writes. */
  scan(prefix: Key): Entry[];
  /**
   * Entries below `prefix` as they were at `at`, in key order, from the first key >= `start` on; from disk.
   * @throws CompactedError when `at < compactedRevision`
   */
  scanAt(at: Revision, options: { prefix: Key; start?: Key; limit?: number }): Promise<Entry[]>;
  /**
   * Events below `prefix` with `after < event.revision`, oldest first, at most `limit`; from disk.
   * @throws CompactedError when `after < compactedRevision`
   */
  eventsAfter(after: Revision, options: { prefix: Key; limit: number }): Promise<StoreEvent[]>;

  /** Every batch applied from now on. */
  subscribe(listener: EventListener): Disposable;
  /** Removes history below `revision`; current objects stay. */
  compact(revision: Revision): Promise<void>;
  /** Undefined while the store takes writes; else why it never will again. */
  readonly failure: StoreUnavailableError | undefined;
  /** Objects that could not be read at open, and were not removed since. They are in no list and no scan. */
  readonly corrupt: readonly CorruptEntryError[];
  corruptAt(key: Key): CorruptEntryError | undefined;
  close(): Promise<void>;
}
