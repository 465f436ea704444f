import { type Index, type Entry as LogRecord, type Term, toIndex } from "../../../../raft/index.ts";
import type { Entry, Key } from "../../../api/entry.ts";
import { type Revision, toRevision } from "../../../api/revision.ts";
import type { AppliedFeed } from "../../applied-feed.ts";
import { IndexCache } from "../../mvcc/index-text.ts";
import { emptyState } from "../../mvcc/state-record.ts";
import { differences } from "../../state-difference.ts";
import type { StateMachine } from "../../state-machine.ts";
import { CorruptEntryError, type StoreEvent } from "../../store.ts";
import type { Proposer } from "../proposer.ts";
import { ReplicatedState } from "../replicated-state.ts";
import type { ServedState } from "../replicated-store.ts";
import { readEntries, readEvents } from "./entry-list.ts";
import { historyPageMax, type ImageHeader } from "./message.ts";
import type { MirrorLink } from "./mirror-link.ts";

export interface MirrorStateParts {
  readonly feed: AppliedFeed;
  readonly proposer: Proposer;
  readonly link: () => MirrorLink;
}

/** The state of a replica as another process has it: objects in memory, history on request. */
export class MirrorState implements ServedState {
  readonly #parts: MirrorStateParts;
  readonly #indexes = new IndexCache();
  #state = new ReplicatedState(emptyState, [], []);
  /** The image that is being received. */
  #image: { readonly header: ImageHeader; readonly entries: Entry[] } | undefined;
  /** Whether the first image is complete. */
  #isComplete = false;

  readonly history: ServedState["history"] = {
    openSnapshots: 0,
    scanAt: (at, prefix, start, limit) => this.#scanAt(at, prefix, start, limit),
    eventsAfter: (after, prefix, limit) => this.#eventsAfter(after, prefix, limit),
  };

  constructor(parts: MirrorStateParts) {
    this.#parts = parts;
  }

  get objects(): StateMachine {
    return this.#state.objects;
  }

  get corrupt(): ReadonlyMap<Key, CorruptEntryError> {
    return this.#state.corrupt;
  }

  /** The log index up to which everything is applied. */
  get index(): number {
    return this.#state.index;
  }

  imageBegin(header: Buffer): void {
    this.#image = { header: JSON.parse(header.toString()) as ImageHeader, entries: [] };
  }

  imageEntries(list: Buffer): void {
    for (const entry of readEntries(list, this.#indexes)) this.#image?.entries.push(entry);
  }

  /** Takes over the received state. */
  imageEnd(): void {
    const { header, entries } = this.#image as { header: ImageHeader; entries: Entry[] };
    this.#image = undefined;
    const { record, corrupt } = header;
    const revisions = {
      revision: toRevision(record.revision),
      compactedRevision: toRevision(record.compactedRevision),
    };
    const errors = corrupt.map(([key, why]) => new CorruptEntryError(key, why));
    const before = this.#state;
    this.#state = new ReplicatedState({ ...record, ...revisions }, entries, errors);
    const { feed, proposer } = this.#parts;
    const { objects, sessions } = this.#state;
    if (this.#isComplete) feed.publish(differences(before.objects, objects), objects.revision, true);
    this.#isComplete = true;
    proposer.stateReplaced(sessions);
  }

  /** Applies an entry. @throws Error if it is not the next one, or the state would then differ from the replica's */
  apply(index: number, data: Uint8Array | undefined): void {
    const { proposer, feed } = this.#parts;
    if (index !== this.index + 1) throw new Error(`entry ${index} came after ${this.index}`);
    const effect = this.#state.apply(recordOf(toIndex(index), data), (id) => proposer.find(id)?.commands);
    if (effect === undefined) return;
    if (effect.events.length > 0) feed.publish(effect.events, this.#state.objects.revision);
    proposer.applied(effect);
  }

  /** Resolves at once. The replica removes history, and refuses to read what it may remove. */
  async swept(): Promise<void> {}

  async close(): Promise<void> {}

  async #scanAt(at: Revision, prefix: Key, start: Key, limit: number): Promise<Entry[]> {
    const found: Entry[] = [];
    for (let from = start; found.length < limit; ) {
      const request = {
        kind: "scanAt",
        at,
        prefix,
        start: from,
        limit: Math.min(limit - found.length, historyPageMax),
      } as const;
      const { more, list } = await this.#parts.link().history(request);
      found.push(...readEntries(list, this.#indexes));
      if (!more) break;
      from = `${found.at(-1)?.key}\0`;
    }
    return found;
  }

  async #eventsAfter(after: Revision, prefix: Key, limit: number): Promise<StoreEvent[]> {
    const found: StoreEvent[] = [];
    for (let last = after; found.length < limit; ) {
      const request = {
        kind: "eventsAfter",
        after: last,
        prefix,
        limit: Math.min(limit - found.length, historyPageMax),
      } as const;
      const { more, list } = await this.#parts.link().history(request);
      found.push(...readEvents(list, this.#indexes));
      if (!more) break;
      last = found.at(-1)?.revision ?? last;
    }
    return found;
  }
}

const noBytes = new Uint8Array(0);

/** Entries without data only advance the index. */
function recordOf(index: Index, data: Uint8Array | undefined): LogRecord {
  return { index, term: 0 as Term, kind: data === undefined ? "empty" : "normal", data: data ?? noBytes };
}
