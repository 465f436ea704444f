import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  forceMembership,
  LogError,
  membershipOf,
  membersOf,
  openLog,
  toIndex,
  toMemberId,
} from "../../../raft/index.ts";
import type { MemberNumber, MemberRecord } from "../cluster.ts";
import { DataDirectory } from "../mvcc/data-directory.ts";
import { DataDirectoryError } from "../mvcc/data-directory-error.ts";
import { openDatabase } from "../mvcc/database.ts";
import { readRecord, type StateRecord } from "../mvcc/state-record.ts";
import { encodeDecision } from "./log-entry.ts";

export interface RecoveredReplica {
  readonly self: MemberNumber;
  /** Its record; undefined if its state has none. */
  readonly record: MemberRecord | undefined;
  /** The members that were removed. */
  readonly forgotten: readonly MemberNumber[];
}

/**
 * Makes the member of a directory the only one of its cluster, after the others were lost for good. Data that only they
 * had is lost. They must never run again; their machines can join as new members with empty directories. The member must
 * not be running.
 * @throws DataDirectoryError
 */
export async function recoverReplica(directory: string): Promise<RecoveredReplica> {
  if (!existsSync(join(directory, "identity.json"))) {
    throw new DataDirectoryError(directory, "it holds no replica", "choose the directory of the remaining member");
  }
  const opened = await DataDirectory.open(directory, { clusterId: randomUUID(), id: 1, seeds: [] });
  try {
    const { member } = opened.identity;
    if (member === undefined) {
      throw new DataDirectoryError(directory, "its replica was never in a cluster", 'run it with "quorate up"');
    }
    const self = toMemberId(member.id);
    const { log } = await openLog(opened.logPath, { clusterId: member.clusterId, memberId: self });
    try {
      const forgotten: MemberNumber[] = [];
      const state = await stateOf(opened);
      await forceMembership(log, {
        membership: membershipOf([self]),
        stateIndex: toIndex(state?.index ?? 0),
        following(before, index) {
          forgotten.push(...membersOf(before).filter((id) => id !== self));
          return forgotten.map((id, at) => forgetting(id, at, index));
        },
      });
      return { self: member.id, forgotten, record: state?.members.find(({ id }) => id === member.id) };
    } finally {
      await log.close();
    }
  } catch (error) {
    if (error instanceof LogError) throw new DataDirectoryError(directory, error.problem, error.advice);
    if (error instanceof DataDirectoryError) throw error;
    throw new DataDirectoryError(directory, (error as Error).message, "choose the directory of another member");
  } finally {
    await opened.release();
  }
}

async function stateOf(directory: DataDirectory): Promise<StateRecord | undefined> {
  if (directory.identity.state === "new") return undefined;
  const database = await openDatabase(directory.databasePath, { createIfMissing: false });
  try {
    return await readRecord(database);
  } finally {
    await database.close();
  }
}

/** Encodes the removal in the same form as a member's proposal. */
function forgetting(id: MemberNumber, at: number, index: number): Uint8Array {
  return encodeDecision(
    { origin: randomUUID(), sequence: 1, floor: 1, basis: index + at },
    { kind: "forgetMember", id },
  );
}
