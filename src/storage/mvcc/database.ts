import { Level } from "level";

/** The database as the store uses it: text keys, binary values. */
export type Database = Level<string, Buffer>;

export type DatabaseOperation =
  | { readonly type: "put"; readonly key: string; readonly value: Buffer }
  | { readonly type: "del"; readonly key: string };

/** Larger than LevelDB's defaults: bodies are a few KiB, and batches up to some MiB. */
const writeBufferBytes = 16 * 1024 * 1024;
const maxFileBytes = 8 * 1024 * 1024;

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
  });
  await database.open();
  return database;
}

/** Applies all operations or none, and is durable when it resolves. The store writes in no other way. */
export function writeDurably(database: Database, operations: DatabaseOperation[]): Promise<void> {
  return database.batch(operations, { sync: true });
}
