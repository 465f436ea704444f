/** Entries of the log after which a proposer that was not heard of is forgotten, and what it sends then is refused. */
const idleEntriesMax = 1_000_000;

/** Names a batch of commands: who proposed it, and which of its batches it is. */
export interface BatchId {
  /** Random for each run of a process. */
  readonly origin: string;
  /** From 1 on, +1 for each batch of the origin. */
  readonly sequence: number;
  /** The oldest batch of the origin that it still waits for: what is older will not come again. */
  readonly floor: number;
  /** What the proposer had applied when it first proposed the batch. */
  readonly basis: number;
}

interface Session {
  /** Every batch below is applied or given up. */
  floor: number;
  /** Applied ones from the floor on. */
  readonly above: Set<number>;
  lastIndex: number;
}

/** As it is written with the state. */
export type SessionRecord = readonly [origin: string, floor: number, above: readonly number[], lastIndex: number];

/**
 * Which batches were applied, so that one that arrives again is not: a part of the replicated state, the same on every
 * replica (Raft thesis §6.3). It needs no more room than the proposers have batches under way.
 */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  constructor(records: readonly SessionRecord[] = []) {
    for (const [origin, floor, above, lastIndex] of records) {
      this.#sessions.set(origin, { floor, above: new Set(above), lastIndex });
    }
  }

  /** Whether the batch that stands at `index` of the log is to be applied: true exactly once. */
  admit({ origin, sequence, floor, basis }: BatchId, index: number): boolean {
    if (index - basis > idleEntriesMax) return false;
    const session = this.#sessionOf(origin, index);
    if (sequence < session.floor || session.above.has(sequence)) return false;
    session.above.add(sequence);
    if (floor > session.floor) {
      session.floor = floor;
      for (const applied of session.above) if (applied < floor) session.above.delete(applied);
    }
    while (session.above.delete(session.floor)) session.floor++;
    return true;
  }

  /** Whether the batch was admitted, or is too old to be. */
  has({ origin, sequence }: BatchId): boolean {
    const session = this.#sessions.get(origin);
    return session !== undefined && (sequence < session.floor || session.above.has(sequence));
  }

  records(): SessionRecord[] {
    return [...this.#sessions].map(([origin, { floor, above, lastIndex }]) => [origin, floor, [...above], lastIndex]);
  }

  #sessionOf(origin: string, index: number): Session {
    let session = this.#sessions.get(origin);
    if (session === undefined) {
      // A new proposer is rare: the time to look for those that are gone.
      for (const [known, { lastIndex }] of this.#sessions) {
        if (index - lastIndex > idleEntriesMax) this.#sessions.delete(known);
      }
      session = { floor: 1, above: new Set(), lastIndex: index };
      this.#sessions.set(origin, session);
    }
    session.lastIndex = index;
    return session;
  }
}
