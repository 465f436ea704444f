import type { Entry, Key, ObjectIndex } from "../api/entry.ts";
import type { Revision } from "../api/revision.ts";

/**
 * An object's bytes, split where its resourceVersion goes: only the state machine knows the revision. `prefix +
 * "<revision>" + suffix`; the quotes belong to prefix and suffix.
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
  /** A deleted object's last state is sent with the revision of the deletion, so its bytes have the gap too. */
  | { readonly kind: "delete"; readonly last: ProposedBody };

/** Another object on which the decision to write was based. */
export interface Premise {
  readonly key: Key;
  /** The object's current revision. */
  readonly revision: Revision;
}

/** A guarded write. Its outcome is decided when it is applied, in command order, the same on every replica. */
export interface Command {
  readonly key: Key;
  readonly expect: Expect;
  /** Objects that must still be as the writer knows them; by default none. */
  readonly premises?: readonly Premise[];
  readonly operation: Operation;
}

export type ApplyResult =
  /** `entry` is the new state; for a delete, it is the last state with the deletion's revision. */
  | { readonly kind: "applied"; readonly revision: Revision; readonly entry: Entry }
  /** The guard failed. `current` is the conflicting entry, or undefined if the key does not exist. */
  | { readonly kind: "rejected"; readonly current: Entry | undefined }
  /** A premise has changed, or is gone. */
  | { readonly kind: "outdated" };

/**
 * One applied mutation. `entry.revision === revision`; for DELETED `entry` is the last state with that revision. In a
 * store on etcd, several mutations share a revision when a lease ends.
 */
export interface StoreEvent {
  readonly revision: Revision;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly entry: Entry;
  /** The state before; undefined exactly for ADDED. */
  readonly previous: Entry | undefined;
}

/** A read of history that compaction has removed. `oldest` is the oldest readable revision. */
export class CompactedError extends Error {
  readonly oldest: Revision;
  constructor(oldest: Revision) {
    super(`history before revision ${oldest} is compacted`);
    this.name = "CompactedError";
    this.oldest = oldest;
  }
}

/** The store cannot answer: its disk failed, it has no leader, or it is closed. */
export class StoreUnavailableError extends Error {
  /**
   * `unknown`: the write may or may not have happened; the client gets a 504. `notDone`: the write did not happen and
   * will not, or it was a read; it is safe to retry.
   */
  readonly outcome: "unknown" | "notDone";
  constructor(why: string, outcome: "unknown" | "notDone" = "unknown") {
    super(why);
    this.name = "StoreUnavailableError";
    this.outcome = outcome;
  }
}

/**
 * A value whose bytes do not match their checksum, or cannot be decoded. It is reported by name, and hides no other
 * object.
 */
export class CorruptEntryError extends Error {
  readonly key: Key;
  readonly why: string;
  constructor(key: Key, why: string) {
    super(`object ${key} cannot be read: ${why}`);
    this.name = "CorruptEntryError";
    this.key = key;
    this.why = why;
  }
}

/** An encrypted object that no configured key opens. `reason` is upstream's text. */
export class UndecryptableEntryError extends CorruptEntryError {
  readonly reason: string;
  constructor(key: Key, reason: string) {
    super(key, reason);
    this.name = "UndecryptableEntryError";
    this.reason = reason;
  }
}

/** A write that cannot be encrypted, and did not happen. `reason` is upstream's text. */
export class EncryptionFailedError extends Error {
  readonly reason: string;
  constructor(reason: string) {
    super(`the object cannot be encrypted: ${reason}`);
    this.name = "EncryptionFailedError";
    this.reason = reason;
  }
}

/**
 * Called in revision order, in the turn in which the batch became visible. It must not throw or wait.
 * @param jumped the replica took over another state as a whole. The events are then the difference between the two, in
 * key order, not the changes in between
 */
export type EventListener = (events: readonly StoreEvent[], revision: Revision, jumped: boolean) => void;

export interface Store {
  /** The newest applied revision. An empty store starts at 1 (0 means "any version" on the wire). */
  readonly revision: Revision;
  /** Reads and watches older than this fail with CompactedError. */
  readonly compactedRevision: Revision;

  /**
   * Applies the command once, and resolves when the result is durable. Rejects with StoreUnavailableError if the outcome
   * is unknown.
   */
  commit(command: Command): Promise<ApplyResult>;
  /**
   * Makes the next read linearizable: afterwards the local state includes every write acknowledged before the call. Returns
   * at once if it already does.
   * @throws StoreUnavailableError if that cannot be confirmed in time
   */
  readBarrier(): Revision | Promise<Revision>;
  /** Resolves with true once `store.revision >= revision`, and with false after `timeoutMs`. */
  waitFor(revision: Revision, timeoutMs: number): Promise<boolean>;

  /** Returns the current state, from memory. */
  get(key: Key): Entry | undefined;
  /** Number of current keys. */
  readonly size: number;
  /** Returns the current entries below `prefix` in key order, from memory. Later writes do not affect the result. */
  scan(prefix: Key): Entry[];
  /**
   * Returns the entries below `prefix` as of revision `at`, in key order, from the first key >= `start` on. Reads the disk.
   * @throws CompactedError when `at < compactedRevision`
   */
  scanAt(at: Revision, options: { prefix: Key; start?: Key; limit?: number }): Promise<Entry[]>;
  /**
   * Returns the events below `prefix` with `after < event.revision`, oldest first. Reads the disk. There are more than
   * `limit` only if the last ones share a revision, which is never cut.
   * @throws CompactedError when `after < compactedRevision`
   */
  eventsAfter(after: Revision, options: { prefix: Key; limit: number }): Promise<StoreEvent[]>;

  /** Calls the listener for every batch applied from now on. */
  subscribe(listener: EventListener): Disposable;
  /** Removes history below `revision`. Current objects stay. */
  compact(revision: Revision): Promise<void>;
  /** The reason why the store takes no more writes; undefined while it does. */
  readonly failure: StoreUnavailableError | undefined;
  /** Objects that were unreadable at open and still exist. They are in no list and no scan. */
  readonly corrupt: readonly CorruptEntryError[];
  corruptAt(key: Key): CorruptEntryError | undefined;
  /** Reports whether a current entry is encrypted in another way than a write would encrypt it now. */
  isStale(entry: Entry): boolean;
  close(): Promise<void>;
}
