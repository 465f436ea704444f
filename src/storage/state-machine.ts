import type { Entry, Key } from "../api/entry.ts";
import { nextRevision, type Revision, toRevision } from "../api/revision.ts";
import { KeyOrder } from "./key-order.ts";
import { uidOf } from "./object-uid.ts";
import { fillGap } from "./resource-version-gap.ts";
import { hashOf, type StateHash, withEntry, withoutEntry } from "./state-hash.ts";
import type { ApplyResult, Command, Expect, Premise, StoreEvent } from "./store.ts";

/** The revision of an empty store. 0 means "any version" on the wire. */
export const firstRevision = toRevision(1);

/** The effects of a batch of commands. */
export interface AppliedBatch {
  /** One result per command, in order. */
  readonly results: readonly ApplyResult[];
  readonly events: readonly StoreEvent[];
}

export interface InitialState {
  readonly revision: Revision;
  readonly compactedRevision: Revision;
  /** Entries in key order. */
  readonly entries: readonly Entry[];
  /** Hash of the entries, if it is known. */
  readonly hash?: StateHash | undefined;
}

/**
 * The current objects and the rules by which commands change them. Deterministic: the same commands in the same order
 * give the same state and the same results everywhere. Applied commands are visible at once, so they must already be
 * durable.
 */
export class StateMachine {
  readonly #entries = new Map<Key, Entry>();
  readonly #order: KeyOrder;
  #revision: Revision;
  #compactedRevision: Revision;
  #hash: StateHash;

  constructor(initial?: InitialState) {
    this.#revision = initial?.revision ?? firstRevision;
    this.#compactedRevision = initial?.compactedRevision ?? firstRevision;
    const keys: Key[] = [];
    for (const entry of initial?.entries ?? []) {
      this.#entries.set(entry.key, entry);
      keys.push(entry.key);
    }
    this.#hash = initial?.hash ?? hashOf(initial?.entries ?? []);
    this.#order = new KeyOrder((key) => this.#entries.has(key), keys);
  }

  get revision(): Revision {
    return this.#revision;
  }

  get compactedRevision(): Revision {
    return this.#compactedRevision;
  }

  /** Hash of the current objects, equal on all replicas that have applied the same commands. */
  get hash(): StateHash {
    return this.#hash;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: Key): Entry | undefined {
    return this.#entries.get(key);
  }

  entries(): IterableIterator<Entry> {
    return this.#entries.values();
  }

  /** Returns at most `limit` entries whose key starts with `prefix` and is >= `start`, in key order. */
  scan(prefix: Key, start: Key = prefix, limit = Number.POSITIVE_INFINITY): Entry[] {
    return this.#order.scan(prefix, start, limit, (key) => this.#entries.get(key) as Entry);
  }

  /** Decides all commands in order. Each sees the effects of earlier ones. */
  apply(commands: readonly Command[]): AppliedBatch {
    const events: StoreEvent[] = [];
    const results = commands.map((command) => this.#decide(command, events));
    return { results, events };
  }

  /** Moves the compaction mark, never back and never beyond the current revision. Returns the mark. */
  compact(revision: Revision): Revision {
    this.#compactedRevision = toRevision(Math.max(this.#compactedRevision, Math.min(revision, this.#revision)));
    return this.#compactedRevision;
  }

  #decide({ key, expect, premises, operation }: Command, events: StoreEvent[]): ApplyResult {
    if (premises?.every((premise) => this.#holds(premise)) === false) return { kind: "outdated" };
    const current = this.#entries.get(key);
    if (!meets(current, expect)) return { kind: "rejected", current };
    const revision = nextRevision(this.#revision);
    if (operation.kind === "put") {
      const createRevision = current?.createRevision ?? revision;
      const body = fillGap(operation.body, revision);
      const entry = { key, revision, createRevision, index: operation.index, body };
      events.push({ revision, type: current === undefined ? "ADDED" : "MODIFIED", entry, previous: current });
      this.#put(entry, current);
      return { kind: "applied", revision, entry };
    }
    if (current === undefined) return { kind: "rejected", current };
    const { createRevision } = current;
    // The last body may be encrypted where the current one is not, and then it does not name the uid.
    const index = { ...current.index, uid: uidOf(current) };
    const entry = { key, revision, createRevision, index, body: fillGap(operation.last, revision) };
    events.push({ revision, type: "DELETED", entry, previous: current });
    this.#delete(current, revision);
    return { kind: "applied", revision, entry };
  }

  #holds({ key, revision }: Premise): boolean {
    return this.#entries.get(key)?.revision === revision;
  }

  #put(entry: Entry, current: Entry | undefined): void {
    this.#revision = entry.revision;
    this.#entries.set(entry.key, entry);
    if (current === undefined) this.#order.add(entry.key);
    else this.#hash = withoutEntry(this.#hash, current);
    this.#hash = withEntry(this.#hash, entry);
  }

  #delete(current: Entry, revision: Revision): void {
    this.#revision = revision;
    this.#entries.delete(current.key);
    this.#order.remove(current.key);
    this.#hash = withoutEntry(this.#hash, current);
  }
}

function meets(current: Entry | undefined, expect: Expect): boolean {
  switch (expect.kind) {
    case "any":
      return true;
    case "absent":
      return current === undefined;
    case "revision":
      return current?.revision === expect.revision;
  }
}
