import { Level } from "level";

/** The database as the store uses it: keys are text, values are bytes. */
export type Database = Level<string, Buffer>;

export type DatabaseOperation =
  | { readonly type: "put"; readonly key: string; readonly value: Buffer }
  | { readonly type: "del"; readonly key: string };

/** Larger than LevelDB's defaults: bodies are a few KiB, and batches are up to some MiB. */
const writeBufferBytes = 8 * 1024 * 1024;
const maxFileBytes = 8 * 1024 * 1024;
/** Size of the pieces of a file, which are compressed one by one: several objects, whose texts are alike. */
const blockBytes = 16 * 1024;

/**
 * Opens the database.
 * @param createIfMissing only for a data directory that has never been opened; otherwise a lost file would look like an
 * empty store
 */
export async function openDatabase(path: string, { createIfMissing }: { createIfMissing: boolean }): Promise<Database> {
  const database = new Level<string, Buffer>(path, {
    keyEncoding: "utf8",
    valueEncoding: "buffer",
    createIfMissing,
    writeBufferSize: writeBufferBytes,
    maxFileSize: maxFileBytes,
    blockSize: blockBytes,
  });
  await database.open();
  return database;
}

/** Applies all operations or none. The result is durable when it resolves. The store has no other way to write. */
export function writeDurably(database: Database, operations: DatabaseOperation[]): Promise<void> {
  return database.batch(operations, { sync: true });
}
