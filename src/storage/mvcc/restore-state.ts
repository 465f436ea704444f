import type { DataDirectory } from "./data-directory.ts";
import { type openDatabase, writeDurably } from "./database.ts";
import { ImageError, readImage } from "./image.ts";
import { identityOperation, type OpenedState, readState } from "./open-state.ts";
import { stateOperation } from "./state-record.ts";

export interface RestoreOptions {
  readonly directory: DataDirectory;
  readonly clusterId: string;
  readonly open: typeof openDatabase;
  /** The log index that the image must have. */
  readonly index: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Builds the directory's other database from an image, durably, and reads it. The database in use is untouched.
 * @throws ImageError, or an error of the chunks
 */
export async function restoreState(options: RestoreOptions): Promise<OpenedState> {
  const { directory, open, chunks, clusterId, index } = options;
  const database = await open(await directory.newDatabasePath(), { createIfMissing: true });
  try {
    const header = await readImage(chunks, (records) => writeDurably(database, records));
    if (header.clusterId !== clusterId)
      throw new ImageError(`it belongs to cluster ${header.clusterId}, not to ${clusterId}`);
    if (header.record.index !== index) throw new ImageError(`it is at index ${header.record.index}, not ${index}`);
    await writeDurably(database, [identityOperation(directory), stateOperation(header.record)]);
    return await readState(directory, database);
  } catch (error) {
    await database.close();
    await directory.removeOtherDatabase();
    throw error;
  }
}
