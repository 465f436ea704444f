import { type Revision, toRevision } from "../../api/revision.ts";
import type { MemberRecord } from "../cluster.ts";
import type { SessionRecord } from "../sessions.ts";
import { emptyHash, type StateHash } from "../state-hash.ts";
import { firstRevision } from "../state-machine.ts";
import type { Database, DatabaseOperation } from "./database.ts";
import { metaKey } from "./layout.ts";
import { decodeMeta, encodeMeta } from "./record.ts";

/** The record written with every batch: the position of the store, and the contents to expect at the next open. */
export interface StateRecord {
  /** Log index up to which the state has the effects of every entry. */
  readonly index: number;
  readonly revision: Revision;
  readonly compactedRevision: Revision;
  /** Number of current objects. Finding fewer means data loss. */
  readonly size: number;
  /** Hash of the state; undefined in records of an older version. */
  readonly hash: StateHash | undefined;
  readonly sessions: readonly SessionRecord[];
  readonly members: readonly MemberRecord[];
  /** Id that the next member gets. */
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

/** Reads the record. Returns undefined when none was ever written, and throws when it is damaged. */
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
