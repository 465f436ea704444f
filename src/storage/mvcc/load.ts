import type { Entry, Key } from "../../api/entry.ts";
import { CorruptEntryError } from "../store.ts";
import type { Database } from "./database.ts";
import { IndexCache } from "./index-text.ts";
import { everyCurrent, parseCurrentKey } from "./layout.ts";
import { decodeEntry } from "./record.ts";

const loadBatchEntries = 1_000;
const loadBatchBytes = 4 * 1024 * 1024;

export interface LoadedEntries {
  /** Entries in key order. */
  readonly entries: Entry[];
  readonly corrupt: CorruptEntryError[];
}

/** Reads every current object. Reports an unreadable one and continues. */
export async function loadEntries(database: Database): Promise<LoadedEntries> {
  const entries: Entry[] = [];
  const corrupt: CorruptEntryError[] = [];
  const indexes = new IndexCache();
  const iterator = database.iterator({ ...everyCurrent, fillCache: false, highWaterMarkBytes: loadBatchBytes });
  try {
    let next = iterator.nextv(loadBatchEntries);
    for (;;) {
      const batch = await next;
      if (batch.length === 0) return { entries, corrupt };
      // Read the next batch while decoding this one.
      next = iterator.nextv(loadBatchEntries);
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
    return decodeEntry(databaseKey, key, value, indexes);
  } catch (error) {
    return new CorruptEntryError(key, (error as Error).message);
  }
}
