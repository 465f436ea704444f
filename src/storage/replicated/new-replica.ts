import { randomUUID } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { DataDirectory, syncDirectory } from "../mvcc/data-directory.ts";
import { DataDirectoryError } from "../mvcc/data-directory-error.ts";
import { type Database, openDatabase, writeDurably } from "../mvcc/database.ts";
import { identityOperation, readState } from "../mvcc/open-state.ts";
import { emptyState, type StateRecord, stateOperation } from "../mvcc/state-record.ts";

export interface NewReplica {
  readonly clusterId: string;
  readonly revision: number;
  readonly objects: number;
}

type Filled = Pick<StateRecord, "revision" | "size" | "hash">;

/**
 * Makes the directory of the first member of a new cluster. Earlier history is compacted. The directory gets its name
 * only when all of it is on disk.
 * @param fill writes all objects. Their number and hash are checked against the database afterwards
 * @throws DataDirectoryError if the directory is not empty
 */
export async function makeReplica(path: string, fill: (database: Database) => Promise<Filled>): Promise<NewReplica> {
  const directory = resolve(path);
  await requireEmpty(directory);
  const unfinished = `${directory}.restoring`;
  await rm(unfinished, { recursive: true, force: true });
  try {
    const made = await fillDirectory(unfinished, fill);
    await rm(directory, { recursive: true, force: true });
    await rename(unfinished, directory);
    await syncDirectory(dirname(directory));
    return made;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function fillDirectory(directory: string, fill: (database: Database) => Promise<Filled>): Promise<NewReplica> {
  const clusterId = randomUUID();
  const opened = await DataDirectory.open(directory, { clusterId, id: 1, seeds: [] });
  try {
    const database = await openDatabase(opened.databasePath, { createIfMissing: true });
    try {
      const { size, hash, revision } = await fill(database);
      const record = { ...emptyState, size, hash, revision, compactedRevision: revision };
      await writeDurably(database, [identityOperation(opened), stateOperation(record)]);
      const read = await readState(opened, database);
      if (hash !== undefined && read.record.hash !== hash) {
        throw new DataDirectoryError(directory, "what was written cannot be read back", "check the disk");
      }
      return { clusterId, revision, objects: size };
    } finally {
      await database.close();
    }
  } finally {
    await opened.release();
  }
}

/** @throws DataDirectoryError if the directory holds anything, or cannot be read */
export async function requireEmpty(directory: string): Promise<void> {
  const found = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new DataDirectoryError(directory, `it cannot be read (${error.code})`, "check the path and its owner");
  });
  const [first] = found;
  if (first === undefined) return;
  throw new DataDirectoryError(directory, `it holds ${first} already`, "choose an empty directory");
}
