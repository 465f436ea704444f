import { CorruptEntryError, type Entry, type Key } from "../store.ts";
import type { Database } from "./database.ts";
import { everyCurrent, parseCurrentKey } from "./layout.ts";
import { decodeEntry, IndexCache } from "./record.ts";

const loadBatchEntries = 1_000;
const loadBatchBytes = 4 * 1024 * 1024;

export interface LoadedEntries {
  /** In key order. */
  readonly entries: Entry[];
  readonly corrupt: CorruptEntryError[];
}

/** Reads every current object; one that cannot be read is named and hides no other. */
export async function loadEntries(database: Database): Promise<LoadedEntries> {
  const entries: Entry[] = [];
  const corrupt: CorruptEntryError[] = [];
  const indexes = new IndexCache();
  const iterator = database.iterator({ ...everyCurrent, fillCache: false, highWaterMarkBytes: loadBatchBytes });
  try {
    for (;;) {
      const batch = await iterator.nextv(loadBatchEntries);
      if (batch.length === 0) return { entries, corrupt };
      for (const [databaseKey, value] of batch) {
        const key = parseCurrentKey(databaseKey);
        const entry = readEntry(databaseKey, key, value, indexes);
        if (entry instanceof CorruptEntryError) corrupt.push(entry);
        else entries.push(entry);
      }
    }
  } finally {
    await iterator.close();
  }
}

function readEntry(databaseKey: string, key: Key, value: Buffer, indexes: IndexCache): Entry | CorruptEntryError {
  try {
    return currentEntry(databaseKey, key, value, indexes);
  } catch (error) {
    return new CorruptEntryError(key, (error as Error).message);
  }
}

function currentEntry(databaseKey: string, key: Key, value: Buffer, indexes: IndexCache): Entry {
  const { revision, createRevision, index, body } = decodeEntry(databaseKey, key, value, indexes);
  return { key, revision, createRevision, index, body };
}
