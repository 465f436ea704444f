import { toRevision } from "../../api/revision.ts";
import { writeDurably } from "../mvcc/database.ts";
import { type ImageHeader, readImage } from "../mvcc/image.ts";
import { makeReplica, type NewReplica } from "./new-replica.ts";

export interface RestoreReplicaOptions {
  readonly directory: string;
  /** Chunks of an image; see `mvcc/image.ts`. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Amount added to the image's revision. Clients may have seen that many revisions after the image. */
  readonly revisionGap: number;
}

/**
 * Makes the directory of the first member of a new cluster, with the objects of an image. Revisions continue above all
 * that clients may have seen, and the earlier history is compacted, so clients that watch have to list again. The
 * directory gets its name only when all of it is on disk.
 * @throws DataDirectoryError if the directory is not empty; ImageError
 */
export function restoreReplica({ directory, chunks, revisionGap }: RestoreReplicaOptions): Promise<NewReplica> {
  return makeReplica(directory, async (database) => {
    const { record } = await readImage(chunks, (records) => writeDurably(database, records));
    return { ...record, revision: toRevision(record.revision + revisionGap) };
  });
}

/** Reads an image to its end and discards it. @throws ImageError if it is incomplete or damaged */
export function inspectImage(chunks: AsyncIterable<Uint8Array>): Promise<ImageHeader> {
  return readImage(chunks, async () => {});
}
