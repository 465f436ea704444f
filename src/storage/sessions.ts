/** Number of log entries after which a silent proposer is forgotten. Its older batches are then rejected. */
const idleEntriesMax = 1_000_000;

/** The name of a batch of commands: its proposer and the batch's number. */
export interface BatchId {
  /** The proposer's name, random for each run of a process. */
  readonly origin: string;
  /** The batch's number, starting at 1 for each origin. */
  readonly sequence: number;
  /** The oldest batch that the origin still waits for. Older batches will not be proposed again. */
  readonly floor: number;
  /** The index that the proposer had applied when it first proposed the batch. */
  readonly basis: number;
}

interface Session {
  /** Every batch below this sequence is applied or given up. */
  floor: number;
  /** Applied batches from the floor on. */
  readonly above: Set<number>;
  lastIndex: number;
}

/** A session as stored with the state. */
export type SessionRecord = readonly [origin: string, floor: number, above: readonly number[], lastIndex: number];

/**
 * The applied batches, so that no batch is applied twice. They are part of the replicated state and the same on every
 * replica (Raft thesis §6.3). The number of outstanding batches limits their size.
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
      // Look for idle proposers here, because new ones are rare.
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
