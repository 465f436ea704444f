import { maybeDeleting, storedMetadata } from "../../api/codec/stored-metadata.ts";
import type { Entry, Key, ObjectOwner } from "../../api/entry.ts";
import { uidOf } from "../../storage/object-uid.ts";
import type { StoreEvent } from "../../storage/store.ts";
import { awaitsDependents, orphansDependents } from "./verdict.ts";

/** Receives the objects that a change affects. */
export interface Concerns {
  /** An object whose owners or dependents have changed. */
  object(key: Key): void;
  /** A deleted object. Its dependents may have to be deleted too. */
  gone(uid: string): void;
  /** An object that waits for its dependents. */
  awaiting(uid: string): void;
  /** An object whose dependents must be orphaned. */
  orphaning(key: Key): void;
}

/** Reports the objects that each change affects. Remembers the objects that wait for their dependents. */
export class AffectedObjects {
  readonly #concerns: Concerns;
  /** Keys by uid, one for each foreground deletion in progress. */
  readonly #awaiting = new Map<string, Key>();

  constructor(concerns: Concerns) {
    this.#concerns = concerns;
  }

  /** Returns the key of the object with this uid if it waits for its dependents. */
  awaiting(uid: string): Key | undefined {
    return this.#awaiting.get(uid);
  }

  receive({ type, entry, previous }: StoreEvent): void {
    const before = previous?.index.owners;
    if (type === "DELETED") {
      this.#gone(entry);
      this.#tellAwaiting(before);
      return;
    }
    // A replica that takes over another state as a whole receives only the difference.
    if (previous !== undefined && uidOf(previous) !== uidOf(entry)) this.#gone(previous);
    const after = entry.index.owners;
    if (!sameOwners(before, after)) {
      if (after !== undefined) this.#concerns.object(entry.key);
      this.#tellAwaiting(before);
    }
    this.notice(entry);
  }

  /** Records an object that is being deleted. */
  notice(entry: Entry): void {
    if (!maybeDeleting(entry)) return;
    const { key } = entry;
    const uid = uidOf(entry);
    const metadata = storedMetadata(entry);
    if (orphansDependents(metadata)) this.#concerns.orphaning(key);
    if (!awaitsDependents(metadata)) {
      this.#awaiting.delete(uid);
      return;
    }
    if (this.#awaiting.has(uid)) return;
    this.#awaiting.set(uid, key);
    this.#concerns.object(key);
    this.#concerns.awaiting(uid);
  }

  #gone(entry: Entry): void {
    const uid = uidOf(entry);
    this.#awaiting.delete(uid);
    this.#concerns.gone(uid);
  }

  /** Reports waiting owners that may have lost a dependent. */
  #tellAwaiting(owners: readonly ObjectOwner[] | undefined): void {
    if (owners === undefined || this.#awaiting.size === 0) return;
    for (const { uid } of owners) {
      const key = this.#awaiting.get(uid);
      if (key !== undefined) this.#concerns.object(key);
    }
  }
}

function sameOwners(before: readonly ObjectOwner[] | undefined, after: readonly ObjectOwner[] | undefined): boolean {
  if (before === after) return true;
  if (before?.length !== after?.length) return false;
  return (before ?? []).every(({ uid, blockOwnerDeletion }, at) => {
    const other = after?.[at];
    return uid === other?.uid && blockOwnerDeletion === other.blockOwnerDeletion;
  });
}
