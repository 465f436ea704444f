import type { MemberRecord } from "../cluster.ts";
import { type Revision, toRevision } from "../../api/revision.ts";
import type { SessionRecord } from "../sessions.ts";
import { firstRevision } from "../state-machine.ts";
import { emptyHash, type StateHash } from "../state-hash.ts";
import type { Database, DatabaseOperation } from "./database.ts";
import { metaKey } from "./layout.ts";
import { decodeMeta, encodeMeta } from "./record.ts";

/** Written with every batch: where the store is, and what must be found when it is opened again. */
export interface StateRecord {
  /** Of the log: the state has the effects of every entry up to it. */
  readonly index: number;
  readonly revision: Revision;
  readonly compactedRevision: Revision;
  /** Number of current objects: a smaller number found is a loss. */
  readonly size: number;
  /** Undefined in what an older version wrote. */
  readonly hash: StateHash | undefined;
  readonly sessions: readonly SessionRecord[];
  readonly members: readonly MemberRecord[];
  /** The id that the next member gets. */
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
  // The founder is 1.
  nextMember: 2,
};

export function stateOperation(state: StateRecord): DatabaseOperation {
  return { type: "put", key: stateKey, value: encodeMeta(stateKey, state) };
}

/** Undefined when none was ever written. Throws when it is damaged. */
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
