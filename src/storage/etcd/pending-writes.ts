import type { Entry } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";

/** A change of a key, as the watch delivered it. */
export interface SeenChange {
  readonly revision: Revision;
  /** The bytes put; undefined for a deletion. */
  readonly value: Uint8Array | undefined;
  readonly isCreation: boolean;
  /** The new state, or the deleted one; undefined if it cannot be decoded. */
  readonly entry: Entry | undefined;
}

/** A write that this server has sent. */
export interface OwnWrite {
  readonly etcdKey: string;
  /** The bytes to put; undefined for a deletion. */
  readonly value: Uint8Array | undefined;
  /** Returns the object that a put makes. */
  entryAt(revision: Revision, createRevision: Revision): Entry;
}

interface PendingKey {
  readonly writes: Set<PendingWrite>;
  /** Changes since the oldest of the writes began, by revision. */
  readonly changes: Map<Revision, SeenChange>;
}

/** The changes of the keys that this server is writing, for as long as it waits for the outcome. */
export class PendingWrites {
  readonly #keys = new Map<string, PendingKey>();

  /** Records the changes of a key from now on. `since` is the revision up to which everything is already visible. */
  begin(write: OwnWrite, since: Revision): PendingWrite {
    let pending = this.#keys.get(write.etcdKey);
    if (pending === undefined) {
      pending = { writes: new Set(), changes: new Map() };
      this.#keys.set(write.etcdKey, pending);
    }
    const { changes, writes } = pending;
    const begun: PendingWrite = new PendingWrite(write, since, pending, () => {
      writes.delete(begun);
      if (writes.size === 0) this.#keys.delete(write.etcdKey);
      else forgetBefore(changes, writes);
    });
    for (const other of writes) {
      if (isEqual(other.write.value, write.value)) other.hasTwin = begun.hasTwin = true;
    }
    writes.add(begun);
    return begun;
  }

  /** Returns the object of a put by this server, which then need not be decoded. */
  entryOf(etcdKey: string, value: Uint8Array, revision: Revision, createRevision: Revision): Entry | undefined {
    for (const { write } of this.#keys.get(etcdKey)?.writes ?? []) {
      if (isEqual(write.value, value)) return write.entryAt(revision, createRevision);
    }
    return undefined;
  }

  /** Records a change if this server is writing the key. */
  record(etcdKey: string, change: SeenChange): void {
    this.#keys.get(etcdKey)?.changes.set(change.revision, change);
  }

  /** Notes that changes were skipped: the mirror took over a later state. */
  skip(): void {
    for (const { writes } of this.#keys.values()) for (const write of writes) write.hasGap = true;
  }
}

export class PendingWrite implements Disposable {
  readonly write: OwnWrite;
  readonly since: Revision;
  /** Whether changes since `since` are missing. */
  hasGap = false;
  /** Whether another write of this server was pending at the same time and would put the same bytes. */
  hasTwin = false;
  readonly #key: PendingKey;
  readonly #end: () => void;

  constructor(write: OwnWrite, since: Revision, key: PendingKey, end: () => void) {
    this.write = write;
    this.since = since;
    this.#key = key;
    this.#end = end;
  }

  changeAt(revision: Revision): SeenChange | undefined {
    return this.#key.changes.get(revision);
  }

  /** Returns the changes after a revision, oldest first. */
  changesAfter(revision: Revision): SeenChange[] {
    return [...this.#key.changes.values()].filter((change) => change.revision > revision);
  }

  [Symbol.dispose](): void {
    this.#end();
  }
}

function forgetBefore(changes: Map<Revision, SeenChange>, writes: ReadonlySet<PendingWrite>): void {
  // Sets iterate in the order of insertion, so the first write is the oldest one.
  const [oldest] = writes;
  if (oldest === undefined) return;
  for (const revision of changes.keys()) {
    if (revision > oldest.since) return;
    changes.delete(revision);
  }
}

export function isEqual(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.byteLength === b.byteLength && Buffer.compare(a, b) === 0;
}
