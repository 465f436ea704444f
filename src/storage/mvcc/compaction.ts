import { nextRevision, type Revision, zeroRevision } from "../../api/revision.ts";
import { type Database, type DatabaseOperation, writeDurably } from "./database.ts";
import { currentKey, eventRange, everyVersion, parseEventKey, parseVersionKey, versionKey } from "./layout.ts";
import { decodeEvent, type EventRecord, isTombstone, revisionOfEntry } from "./record.ts";

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
      const { operations, last, isDamaged } = await this.#slice(mark);
      if (isDamaged) await this.#removeUnreachable(mark);
      await this.#remove(operations);
      this.#swept = last;
    }
  }

  async #remove(operations: DatabaseOperation[]): Promise<void> {
    if (operations.length === 0) return;
    await this.#options.between(() => writeDurably(this.#options.database, operations));
  }

  /**
   * Removes every version that no read at or after the mark needs, in one pass over all versions. A damaged event does not
   * say which one it superseded. That version must not stay: once the tombstone after it is gone, it would be read again.
   */
  async #removeUnreachable(mark: Revision): Promise<void> {
    const iterator = this.#options.database.iterator(everyVersion);
    let before: [string, Buffer] | undefined;
    try {
      for (;;) {
        const batch = await iterator.nextv(compactionSliceEvents);
        const operations: DatabaseOperation[] = [];
        for (const next of batch.length === 0 ? [undefined] : batch) {
          if (before !== undefined && (await this.#isUnreachable(before, next?.[0], mark))) {
            operations.push({ type: "del", key: before[0] });
          }
          before = next;
        }
        await this.#remove(operations);
        if (batch.length === 0) return;
      }
    } finally {
      await iterator.close();
    }
  }

  /** Reports whether a version was superseded up to the mark, by the next record or by the current object. */
  async #isUnreachable([databaseKey, value]: [string, Buffer], next: string | undefined, mark: Revision) {
    const { key, revision } = parseVersionKey(databaseKey);
    if (isTombstone(value)) return revision <= mark;
    const following = next === undefined ? undefined : parseVersionKey(next);
    if (following?.key === key) return following.revision <= mark;
    const current = await this.#options.database.get(currentKey(key));
    return current !== undefined && revisionOfEntry(current) <= mark;
  }

  async #slice(mark: Revision): Promise<{ operations: DatabaseOperation[]; last: Revision; isDamaged: boolean }> {
    const range = eventRange(nextRevision(this.#swept), mark);
    const records = await this.#options.database.iterator({ ...range, limit: compactionSliceEvents }).all();
    const operations: DatabaseOperation[] = [];
    let last = mark;
    let isDamaged = false;
    for (const [databaseKey, value] of records) {
      const revision = parseEventKey(databaseKey);
      const event = readEvent(databaseKey, value);
      isDamaged ||= event === undefined;
      for (const key of supersededBy(revision, event)) operations.push({ type: "del", key });
      operations.push({ type: "del", key: databaseKey });
      if (records.length === compactionSliceEvents) last = revision;
    }
    return { operations, last, isDamaged };
  }
}

/** Decodes an event; undefined if it is damaged. */
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
