import type { Entry, Key, ObjectOwner } from "../../api/entry.ts";
import { status } from "../../api/status.ts";
import type { Store, StoreEvent } from "../store.ts";

/** The limit on an owner's keys in a list. A set takes several times the memory. */
const listedMax = 16;

/** The dependents of an owner. Most owners have one or a few. */
type Dependents = Key | Key[] | Set<Key>;

/**
 * Finds the objects that name an owner, whatever their kind, for the garbage collector. Built from the store's state in
 * steps, and then updated by events. It answers nothing before it is complete.
 *
 * It holds one key per owner of each object, and no text of its own: uids and keys are those of the store's entries. An
 * owner need not exist. It is forgotten with its last dependent.
 */
export class OwnerIndex implements Disposable {
  readonly #store: Pick<Store, "get" | "scan" | "subscribe">;
  readonly #dependents = new Map<string, Dependents>();
  #subscription: Disposable | undefined;
  #isComplete = false;

  constructor(store: Pick<Store, "get" | "scan" | "subscribe">) {
    this.#store = store;
  }

  /** Reports whether the index is built and complete. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Follows the store from now on, and returns the steps that build the index. */
  build(): Generator<void, void> {
    this.#subscription ??= this.#store.subscribe((events) => {
      for (const event of events) this.#receive(event);
    });
    return this.#read();
  }

  /**
   * Returns the keys of the current objects that name the owner, without duplicates, in no particular order.
   * @throws StatusError 503 unless the index is complete
   */
  dependentsOf(uid: string): Key[] {
    const dependents = this.#find(uid);
    if (dependents === undefined) return [];
    return typeof dependents === "string" ? [dependents] : [...dependents];
  }

  /**
   * Reports whether `holds` is true for any of these keys. Stops at the first one.
   * @throws StatusError 503 unless the index is complete
   */
  someDependent(uid: string, holds: (key: Key) => boolean): boolean {
    const dependents = this.#find(uid);
    if (dependents === undefined) return false;
    if (typeof dependents === "string") return holds(dependents);
    for (const key of dependents) if (holds(key)) return true;
    return false;
  }

  /** Number of owners that have dependents, as far as the index is built. */
  get size(): number {
    return this.#dependents.size;
  }

  [Symbol.dispose](): void {
    this.#subscription?.[Symbol.dispose]();
    this.#subscription = undefined;
    this.#isComplete = false;
    this.#dependents.clear();
  }

  /** An answer with some of the dependents would delete their owner too early. */
  #find(uid: string): Dependents | undefined {
    if (!this.#isComplete) throw status.serviceUnavailable("the owners of objects are not known yet");
    return this.#dependents.get(uid);
  }

  /** Adds each object in its current state, because an earlier event may have changed it. */
  *#read(): Generator<void, void> {
    for (const { key, index } of this.#store.scan("/")) {
      // If it has got owners since then, an event has told them.
      if (index.owners === undefined) continue;
      yield;
      if (this.#subscription === undefined) return;
      const entry = this.#store.get(key);
      if (entry !== undefined) this.#add(entry);
    }
    this.#isComplete = true;
  }

  #receive({ type, entry, previous }: StoreEvent): void {
    const before = previous?.index.owners;
    const after = type === "DELETED" ? undefined : entry.index.owners;
    if (before === after || sameUids(before, after)) return;
    if (previous !== undefined) this.#remove(previous);
    if (after !== undefined) this.#add(entry);
  }

  #add({ key, index }: Entry): void {
    for (const { uid } of index.owners ?? []) {
      const dependents = this.#dependents.get(uid);
      const more = dependents === undefined ? key : withKey(dependents, key);
      if (more !== dependents) this.#dependents.set(uid, more);
    }
  }

  #remove({ key, index }: Entry): void {
    for (const { uid } of index.owners ?? []) {
      const dependents = this.#dependents.get(uid);
      if (dependents === undefined) continue;
      const left = withoutKey(dependents, key);
      if (left === undefined) this.#dependents.delete(uid);
      else if (left !== dependents) this.#dependents.set(uid, left);
    }
  }
}

function withKey(dependents: Dependents, key: Key): Dependents {
  if (typeof dependents === "string") return dependents === key ? dependents : [dependents, key];
  if (!Array.isArray(dependents)) return dependents.add(key);
  if (dependents.includes(key)) return dependents;
  if (dependents.length >= listedMax) return new Set([...dependents, key]);
  dependents.push(key);
  return dependents;
}

/** Returns undefined if none is left. */
function withoutKey(dependents: Dependents, key: Key): Dependents | undefined {
  if (typeof dependents === "string") return dependents === key ? undefined : dependents;
  if (!Array.isArray(dependents)) {
    dependents.delete(key);
    return dependents.size > listedMax / 2 ? dependents : [...dependents];
  }
  const at = dependents.indexOf(key);
  if (at >= 0) dependents.splice(at, 1);
  return dependents.length > 1 ? dependents : dependents[0];
}

/** True for most updates, which do not change the owners. */
function sameUids(before: readonly ObjectOwner[] | undefined, after: readonly ObjectOwner[] | undefined): boolean {
  if (before?.length !== after?.length) return false;
  return before === undefined || before.every(({ uid }, at) => uid === after?.[at]?.uid);
}
