import { nextRevision, type Revision, zeroRevision } from "../../api/revision.ts";
import { type Database, type DatabaseOperation, writeDurably } from "./database.ts";
import { eventRange, parseEventKey, versionKey } from "./layout.ts";
import { decodeEvent, type EventRecord } from "./record.ts";

/** Number of events removed in one write, so that commands never wait long. */
const compactionSliceEvents = 500;

export interface SweepOptions {
  readonly database: Database;
  /** Runs a write between two writes of changes. */
  readonly between: (write: () => Promise<void>) => Promise<void>;
  /** Returns true to end the sweep early. It continues at the next open. */
  readonly isStopped: () => boolean;
}

/**
 * Removes data from disk that only reads before the compacted revision can see. The mark that forbids those reads is
 * durable before the first removal. After a crash in between, the sweep continues.
 *
 * Each event up to the mark names the version that it superseded, and no read at or after the mark needs that version. A
 * tombstone is removed with its event. A version that was superseded after the mark stays, because it is the state at the
 * mark.
 */
export class CompactionSweep {
  readonly #options: SweepOptions;
  /** The revision up to which everything is already removed. */
  #swept: Revision = zeroRevision;

  constructor(options: SweepOptions) {
    this.#options = options;
  }

  async run(mark: Revision): Promise<void> {
    while (this.#swept < mark && !this.#options.isStopped()) {
      const { operations, last } = await this.#slice(mark);
      if (operations.length > 0) {
        await this.#options.between(() => writeDurably(this.#options.database, operations));
      }
      this.#swept = last;
    }
  }

  async #slice(mark: Revision): Promise<{ operations: DatabaseOperation[]; last: Revision }> {
    const range = eventRange(nextRevision(this.#swept), mark);
    const records = await this.#options.database.iterator({ ...range, limit: compactionSliceEvents }).all();
    const operations: DatabaseOperation[] = [];
    let last = mark;
    for (const [databaseKey, value] of records) {
      const revision = parseEventKey(databaseKey);
      for (const key of supersededBy(revision, readEvent(databaseKey, value))) operations.push({ type: "del", key });
      operations.push({ type: "del", key: databaseKey });
      if (records.length === compactionSliceEvents) last = revision;
    }
    return { operations, last };
  }
}

/**
 * Decodes an event. A damaged event is removed; the version that it superseded stays behind, unreachable and harmless.
 */
function readEvent(databaseKey: string, value: Buffer): EventRecord | undefined {
  try {
    return decodeEvent(databaseKey, value);
  } catch {
    return undefined;
  }
}

function supersededBy(revision: Revision, event: EventRecord | undefined): string[] {
  if (event === undefined) return [];
  const { key, previousRevision, type } = event;
  const superseded = previousRevision === undefined ? [] : [versionKey(key, previousRevision)];
  return type === "DELETED" ? [...superseded, versionKey(key, revision)] : superseded;
}
