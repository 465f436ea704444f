import { type Revision, toRevision } from "../../api/revision.ts";
import type { MemberRecord } from "../cluster.ts";
import type { SessionRecord } from "../sessions.ts";
import { emptyHash, type StateHash } from "../state-hash.ts";
import { firstRevision } from "../state-machine.ts";
import type { Database, DatabaseOperation } from "./database.ts";
import { metaKey } from "./layout.ts";
import { decodeMeta, encodeMeta } from "./record.ts";

/** The record written with every batch: the store's position, and the contents to expect at the next open. */
export interface StateRecord {
  /** The log index up to which the state includes all effects. */
  readonly index: number;
  readonly revision: Revision;
  readonly compactedRevision: Revision;
  /** Number of current objects. Fewer objects in the database mean data loss. */
  readonly size: number;
  /** Hash of the state; undefined in records of older versions. */
  readonly hash: StateHash | undefined;
  readonly sessions: readonly SessionRecord[];
  readonly members: readonly MemberRecord[];
  /** The id for the next member. */
  readonly nextMember: number;
}

const stateKey = metaKey("state");

export const emptyState: StateRecord = {
  index: 0,
  revision: firstRevision,
  compactedRevision: firstRevision,
  size: 0,
  hash: emptyHash,
  sessions: [],
  members: [],
  // The founder has id 1.
  nextMember: 2,
};

export function stateOperation(state: StateRecord): DatabaseOperation {
  return { type: "put", key: stateKey, value: encodeMeta(stateKey, state) };
}

/** Reads the record. Returns undefined if none was ever written. Throws if it is damaged. */
export async function readRecord(
  database: Database,
  snapshot?: ReturnType<Database["snapshot"]>,
): Promise<StateRecord | undefined> {
  const value = await database.get(stateKey, snapshot === undefined ? {} : { snapshot });
  if (value === undefined) return undefined;
  const record = {
    ...emptyState,
    hash: undefined,
    ...(decodeMeta(stateKey, value) as Partial<StateRecord>),
  } satisfies StateRecord;
  return { ...record, revision: toRevision(record.revision), compactedRevision: toRevision(record.compactedRevision) };
}
