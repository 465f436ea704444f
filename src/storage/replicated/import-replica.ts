import type { Entry } from "../../api/entry.ts";
import type { Revision } from "../../api/revision.ts";
import { writeDurably } from "../mvcc/database.ts";
import { currentKey } from "../mvcc/layout.ts";
import { encodeEntry } from "../mvcc/record.ts";
import { hashOf } from "../state-hash.ts";
import { makeReplica, type NewReplica } from "./new-replica.ts";

/** Number of objects that are written at once. */
const importBatch = 500;

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
export function importReplica({ directory, entries, revision, onProgress }: ImportReplicaOptions): Promise<NewReplica> {
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
