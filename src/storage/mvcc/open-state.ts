import type { Entry } from "../../api/entry.ts";
import { hashOf, type StateHash } from "../state-hash.ts";
import type { CorruptEntryError } from "../store.ts";
import type { DataDirectory } from "./data-directory.ts";
import { DataDirectoryError } from "./data-directory-error.ts";
import { type Database, type DatabaseOperation, openDatabase, writeDurably } from "./database.ts";
import { metaKey } from "./layout.ts";
import { type LoadedEntries, loadEntries } from "./load.ts";
import { DamagedRecordError, decodeMeta, encodeMeta } from "./record.ts";
import { emptyState, readRecord, type StateRecord, stateOperation } from "./state-record.ts";

export interface OpenedState {
  readonly database: Database;
  /** Its hash is that of `entries`. */
  readonly record: StateRecord;
  /** Entries in key order. The state that takes them over empties the list, because a start keeps what it was given. */
  readonly entries: Entry[];
  readonly corrupt: readonly CorruptEntryError[];
}

const restore = "restore it from a backup or a peer";
const identityKey = metaKey("identity");
/** Number of entries from which it pays to reopen the files, to free their memory. */
const manyEntries = 1_000;

/**
 * Opens the database of a data directory, creates it the first time, and reads its contents. @throws DataDirectoryError
 */
export async function openState(
  directory: DataDirectory,
  open: typeof openDatabase = openDatabase,
): Promise<OpenedState> {
  const isNew = directory.identity.state === "new";
  const database = await openOrExplain(directory, open, isNew);
  try {
    if (isNew) await initialize(directory, database);
    return await readState(directory, database);
  } catch (error) {
    await database.close();
    if (!(error instanceof DamagedRecordError)) throw error;
    throw new DataDirectoryError(directory.path, `a record of the store itself is damaged: ${error.message}`, restore);
  }
}

/** Reads the contents of a database. @throws DataDirectoryError */
export async function readState(directory: DataDirectory, database: Database): Promise<OpenedState> {
  await checkIdentity(directory, database);
  const record = await readRecord(database);
  if (record === undefined) throw new DataDirectoryError(directory.path, "its state record is missing", restore);
  const loaded = await loadEntries(database);
  const released = loaded.entries.length >= manyEntries ? releaseFiles(database) : undefined;
  const hash = hashOf(loaded.entries);
  await released;
  checkComplete(directory, record, loaded, hash);
  return { database, record: { ...record, hash }, ...loaded };
}

/** Returns the write that marks a database as belonging to its directory. */
export function identityOperation({ identity }: DataDirectory): DatabaseOperation {
  return { type: "put", key: identityKey, value: encodeMeta(identityKey, identity.id) };
}

/**
 * Reopens the database. LevelDB keeps every file that it has read mapped into memory, and loading reads all of them. A
 * fresh open maps none.
 */
async function releaseFiles(database: Database): Promise<void> {
  await database.close();
  await database.open({ createIfMissing: false });
}

async function openOrExplain(directory: DataDirectory, open: typeof openDatabase, isNew: boolean): Promise<Database> {
  try {
    return await open(directory.databasePath, { createIfMissing: isNew });
  } catch (error) {
    const { cause, message } = error as Error;
    const { code, message: detail } = (cause ?? { message }) as { code?: string; message: string };
    if (code === "LEVEL_LOCKED") {
      throw new DataDirectoryError(directory.path, "another process is using it", "stop that process");
    }
    throw new DataDirectoryError(directory.path, `its database cannot be opened (${oneLine(detail)})`, restore);
  }
}

/**
 * Completes the first opening, also after a crash that interrupted it. The database can only hold the id at this point.
 */
async function initialize(directory: DataDirectory, database: Database): Promise<void> {
  const held = await database.get(identityKey);
  if (held === undefined) {
    await writeDurably(database, [identityOperation(directory), stateOperation(emptyState)]);
  }
  await directory.markReady();
}

async function checkIdentity(directory: DataDirectory, database: Database): Promise<void> {
  const value = await database.get(identityKey);
  const held = value === undefined ? undefined : decodeMeta(identityKey, value);
  if (held === directory.identity.id) return;
  throw new DataDirectoryError(
    directory.path,
    `its database ${held === undefined ? "has no identity" : "belongs to another data directory"}`,
    restore,
  );
}

/** Compares the counts, because LevelDB can lose a file or the tail of its log without an error. */
function checkComplete(
  directory: DataDirectory,
  record: StateRecord,
  { entries, corrupt }: LoadedEntries,
  hash: StateHash,
): void {
  const found = entries.length + corrupt.length;
  if (found !== record.size) {
    throw new DataDirectoryError(directory.path, `it should hold ${record.size} objects and holds ${found}`, restore);
  }
  if (corrupt.length === 0 && record.hash !== undefined && hash !== record.hash) {
    throw new DataDirectoryError(directory.path, "its objects are not those that it should hold", restore);
  }
  const newer = entries.find(({ revision }) => revision > record.revision);
  if (newer === undefined) return;
  const problem = `${newer.key} is newer than the store's revision ${record.revision}`;
  throw new DataDirectoryError(directory.path, problem, restore);
}

function oneLine(text: string): string {
  return text.replaceAll("\n", " ");
}
