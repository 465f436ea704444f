import { type Revision, toRevision } from "../revision.ts";
import { firstRevision, type PreparedBatch } from "../state-machine.ts";
import type { Database, DatabaseOperation } from "./database.ts";
import { currentKey, eventKey, metaKey, versionKey } from "./layout.ts";
import { decodeMeta, encodeEntry, encodeEvent, encodeMeta } from "./record.ts";

/** Written with every batch: where the store is, and what must be found when it is opened again. */
export interface StateRecord {
  readonly revision: Revision;
  readonly compactedRevision: Revision;
  /** Number of current objects: a smaller number found is a loss. */
  readonly size: number;
}

const stateKey = metaKey("state");

export const emptyState: StateRecord = { revision: firstRevision, compactedRevision: firstRevision, size: 0 };

export function stateOperation(state: StateRecord): DatabaseOperation {
  return { type: "put", key: stateKey, value: encodeMeta(stateKey, state) };
}

/** Undefined when none was ever written. Throws when it is damaged. */
export async function readState(database: Database): Promise<StateRecord | undefined> {
  const value = await database.get(stateKey);
  if (value === undefined) return undefined;
  const { revision, compactedRevision, size } = decodeMeta(stateKey, value) as Record<string, number>;
  return {
    revision: toRevision(revision as number),
    compactedRevision: toRevision(compactedRevision as number),
    size: size as number,
  };
}

/** What a batch of commands changes on disk, with the state record that belongs to it. */
export function batchOperations(
  batch: PreparedBatch,
  before: StateRecord,
): { operations: DatabaseOperation[]; state: StateRecord } {
  const operations: DatabaseOperation[] = [];
  let { size } = before;
  for (const event of batch.events) {
    const { entry, previous, type } = event;
    const current = currentKey(entry.key);
    if (previous !== undefined) {
      const superseded = versionKey(entry.key, previous.revision);
      operations.push({ type: "put", key: superseded, value: encodeEntry(superseded, previous) });
    }
    if (type === "DELETED") {
      const tombstone = versionKey(entry.key, entry.revision);
      operations.push({ type: "put", key: tombstone, value: encodeEntry(tombstone, entry, true) });
      operations.push({ type: "del", key: current });
      size--;
    } else {
      operations.push({ type: "put", key: current, value: encodeEntry(current, entry) });
      if (type === "ADDED") size++;
    }
    const happened = eventKey(event.revision);
    operations.push({ type: "put", key: happened, value: encodeEvent(happened, event) });
  }
  const state = { revision: batch.revision, compactedRevision: before.compactedRevision, size };
  operations.push(stateOperation(state));
  return { operations, state };
}
