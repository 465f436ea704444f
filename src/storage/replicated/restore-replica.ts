import { randomUUID } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Entry } from "../../api/entry.ts";
import { type Revision, toRevision } from "../../api/revision.ts";
import { DataDirectory, syncDirectory } from "../mvcc/data-directory.ts";
import { DataDirectoryError } from "../mvcc/data-directory-error.ts";
import { type Database, openDatabase, writeDurably } from "../mvcc/database.ts";
import { type ImageHeader, readImage } from "../mvcc/image.ts";
import { currentKey } from "../mvcc/layout.ts";
import { identityOperation, readState } from "../mvcc/open-state.ts";
import { encodeEntry } from "../mvcc/record.ts";
import { emptyState, type StateRecord, stateOperation } from "../mvcc/state-record.ts";
import { hashOf } from "../state-hash.ts";

/** Number of objects that are written at once. */
const importBatch = 500;

export interface RestoreReplicaOptions {
  readonly directory: string;
  /** Chunks of an image; see `mvcc/image.ts`. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Amount added to the image's revision. Clients may have seen that many revisions after the image. */
  readonly revisionGap: number;
}

export interface RestoredReplica {
  readonly clusterId: string;
  readonly revision: number;
  readonly objects: number;
}

/**
 * Makes the directory of the first member of a new cluster, with the objects of an image. Revisions continue above all
 * that clients may have seen, and the earlier history is compacted, so clients that watch have to list again. The
 * directory gets its name only when all of it is on disk.
 * @throws DataDirectoryError if the directory is not empty; ImageError
 */
export function restoreReplica({ directory, chunks, revisionGap }: RestoreReplicaOptions): Promise<RestoredReplica> {
  return makeReplica(directory, async (database) => {
    const { record } = await readImage(chunks, (records) => writeDurably(database, records));
    return { ...record, revision: toRevision(record.revision + revisionGap) };
  });
}

export interface ImportReplicaOptions {
  readonly directory: string;
  /** All objects, as they are to be stored. */
  readonly entries: readonly Entry[];
  /** First revision of the new store; above all that clients have seen. */
  readonly revision: Revision;
  /** Called with the number of objects that are written. */
  readonly onProgress: (objects: number) => void;
}

/**
 * Makes the directory of the first member of a new cluster, with these objects, and reads all of them back. They keep
 * their resourceVersions. The directory gets its name only when all of it is on disk.
 * @throws DataDirectoryError if the directory is not empty
 */
export function importReplica({
  directory,
  entries,
  revision,
  onProgress,
}: ImportReplicaOptions): Promise<RestoredReplica> {
  return makeReplica(directory, async (database) => {
    for (let at = 0; at < entries.length; at += importBatch) {
      const batch = entries.slice(at, at + importBatch);
      await writeDurably(
        database,
        batch.map((entry) => {
          const key = currentKey(entry.key);
          return { type: "put", key, value: encodeEntry(key, entry) };
        }),
      );
      onProgress(at + batch.length);
    }
    return { revision, size: entries.length, hash: hashOf(entries) };
  });
}

type Filled = Pick<StateRecord, "revision" | "size" | "hash">;

/** @param fill writes all objects. Their number and hash are checked against the database afterwards */
async function makeReplica(path: string, fill: (database: Database) => Promise<Filled>): Promise<RestoredReplica> {
  const directory = resolve(path);
  await requireEmpty(directory);
  const unfinished = `${directory}.restoring`;
  await rm(unfinished, { recursive: true, force: true });
  try {
    const restored = await fillDirectory(unfinished, fill);
    await rm(directory, { recursive: true, force: true });
    await rename(unfinished, directory);
    await syncDirectory(dirname(directory));
    return restored;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function fillDirectory(
  directory: string,
  fill: (database: Database) => Promise<Filled>,
): Promise<RestoredReplica> {
  const clusterId = randomUUID();
  const opened = await DataDirectory.open(directory, { clusterId, id: 1, seeds: [] });
  try {
    const database = await openDatabase(opened.databasePath, { createIfMissing: true });
    try {
      const { size, hash, revision } = await fill(database);
      const restored = { ...emptyState, size, hash, revision, compactedRevision: revision };
      await writeDurably(database, [identityOperation(opened), stateOperation(restored)]);
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

/** Reads an image to its end and discards it. @throws ImageError if it is incomplete or damaged */
export function inspectImage(chunks: AsyncIterable<Uint8Array>): Promise<ImageHeader> {
  return readImage(chunks, async () => {});
}
