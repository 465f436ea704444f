/** Entries of the log after which a silent proposer is forgotten. Its older batches are rejected from then on. */
const idleEntriesMax = 1_000_000;

/** Names a batch of commands by its proposer and the batch's number. */
export interface BatchId {
  /** Name of the proposer, random for each run of a process. */
  readonly origin: string;
  /** Number of the batch, starting at 1 for each origin. */
  readonly sequence: number;
  /** Oldest batch that the origin still waits for. Older ones will not be proposed again. */
  readonly floor: number;
  /** Index that the proposer had applied when it first proposed the batch. */
  readonly basis: number;
}

interface Session {
  /** Sequence below which every batch is applied or given up. */
  floor: number;
  /** Applied batches from the floor on. */
  readonly above: Set<number>;
  lastIndex: number;
}

/** A session as it is written with the state. */
export type SessionRecord = readonly [origin: string, floor: number, above: readonly number[], lastIndex: number];

/**
 * The applied batches, so that a batch that arrives again is not applied twice. They are part of the replicated state
 * and the same on every replica (Raft thesis §6.3). Their size is limited by the number of batches that are under way.
 */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  constructor(records: readonly SessionRecord[] = []) {
    for (const [origin, floor, above, lastIndex] of records) {
      this.#sessions.set(origin, { floor, above: new Set(above), lastIndex });
    }
  }

  /** Decides whether to apply the batch at log position `index`. Returns true exactly once per batch. */
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

  /** Reports whether the batch was admitted or is too old to be. */
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
      // New proposers are rare, so this is the time to look for idle ones.
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
