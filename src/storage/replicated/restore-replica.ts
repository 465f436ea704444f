import { randomUUID } from "node:crypto";
import { readdir, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { toRevision } from "../../api/revision.ts";
import { DataDirectory, syncDirectory } from "../mvcc/data-directory.ts";
import { DataDirectoryError } from "../mvcc/data-directory-error.ts";
import { openDatabase, writeDurably } from "../mvcc/database.ts";
import { type ImageHeader, readImage } from "../mvcc/image.ts";
import { identityOperation, readState } from "../mvcc/open-state.ts";
import { emptyState, stateOperation } from "../mvcc/state-record.ts";

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
export async function restoreReplica(options: RestoreReplicaOptions): Promise<RestoredReplica> {
  const directory = resolve(options.directory);
  await requireEmpty(directory);
  const unfinished = `${directory}.restoring`;
  await rm(unfinished, { recursive: true, force: true });
  try {
    const restored = await restoreInto(unfinished, options);
    await rm(directory, { recursive: true, force: true });
    await rename(unfinished, directory);
    await syncDirectory(dirname(directory));
    return restored;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

async function restoreInto(directory: string, options: RestoreReplicaOptions): Promise<RestoredReplica> {
  const clusterId = randomUUID();
  const opened = await DataDirectory.open(directory, { clusterId, id: 1, seeds: [] });
  try {
    const database = await openDatabase(opened.databasePath, { createIfMissing: true });
    try {
      const { record } = await readImage(options.chunks, (records) => writeDurably(database, records));
      const revision = toRevision(record.revision + options.revisionGap);
      const { size, hash } = record;
      const restored = { ...emptyState, size, hash, revision, compactedRevision: revision };
      await writeDurably(database, [identityOperation(opened), stateOperation(restored)]);
      await readState(opened, database);
      return { clusterId, revision, objects: size };
    } finally {
      await database.close();
    }
  } finally {
    await opened.release();
  }
}

async function requireEmpty(directory: string): Promise<void> {
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
