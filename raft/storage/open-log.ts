import { randomUUID } from "node:crypto";
import { noIndex, noMember, noTerm } from "../core/ids.ts";
import type { Membership } from "../core/membership.ts";
import type { SnapshotMeta } from "../core/snapshot.ts";
import { guardDirectory } from "./directory-guard.ts";
import { type Disk, type DiskFile, writeNewFile } from "./disk.ts";
import { FileLog, type FileLogTuning, firstSegmentBytes } from "./file-log.ts";
import { checkOwner, type Identity, type Owner, readIdentity, writeIdentity } from "./identity.ts";
import { LogError, rejoinAdvice } from "./log-error.ts";
import { encodeRecord, type LogRecord, recordBytes } from "./record.ts";
import { type Recovered, recoverLog } from "./recovery.ts";
import { encodeSegmentHeader, segmentHeaderBytes, segmentName, segmentSalt, segmentSequence } from "./segment.ts";
import { openSystemDisk } from "./system-disk.ts";
import { TailWitness, witnessFile } from "./tail-witness.ts";

export interface OpenedLog {
  readonly log: FileLog;
  /**
   * Number of times this log was opened, including this one. A copy of an older state of the directory has a lower
   * number, which lets peers tell it from the member that they know.
   */
  readonly starts: number;
}

/** Name of the first segment until the identity is in place. An interrupted creation is not a log yet. */
const createdFile = "created.segment";

/**
 * Creates the log of a new member. Call it explicitly and once: a member whose directory was lost must not come back as
 * if it had never voted.
 *
 * @param base `foundedBy` the first voters, or an empty membership for a joining member; or a snapshot that the state
 * machine has
 * @throws LogError `exists` when a log exists
 */
export async function createLog(directory: string, owner: Owner, base: SnapshotMeta): Promise<void> {
  const disk = openSystemDisk(directory);
  const release = guardDirectory(directory);
  try {
    await createLogOn(disk, owner, base);
  } finally {
    await release();
  }
}

/** Opens a log. @throws LogError; its codes list the possible errors */
export async function openLog(directory: string, owner: Owner, tuning: FileLogTuning = {}): Promise<OpenedLog> {
  const disk = openSystemDisk(directory);
  const release = guardDirectory(directory);
  try {
    return await openLogOn(disk, owner, tuning, release);
  } catch (error) {
    await release();
    throw error;
  }
}

/** Returns the base of each founder's log in a new cluster. A member that joins later begins with `noMembership`. */
export function foundedBy(membership: Membership): SnapshotMeta {
  return { index: noIndex, term: noTerm, membership };
}

/** Reports whether a log was created here before, for programs that found a cluster at their first start. */
export function logExists(directory: string): boolean {
  return holdsLog(openSystemDisk(directory));
}

export async function createLogOn(disk: Disk, owner: Owner, base: SnapshotMeta): Promise<void> {
  if (holdsLog(disk)) {
    const advice = "open it, or choose another directory";
    throw new LogError("exists", "there is a log already", advice, { directory: disk.directory });
  }
  for (const leftover of [createdFile, witnessFile]) if (disk.list().includes(leftover)) disk.remove(leftover);
  const identity: Identity = { ...owner, logId: randomUUID() };
  await writeFirstSegment(disk, identity.logId, base);
  await TailWitness.create(disk, identity.logId);
  await disk.syncDirectory();
  await writeIdentity(disk, identity);
  await nameFirstSegment(disk);
}

export async function openLogOn(
  disk: Disk,
  owner: Owner,
  tuning: FileLogTuning = {},
  release: () => Promise<void> = async () => {},
): Promise<OpenedLog> {
  const identity = readIdentity(disk);
  if (identity === undefined) throw noLog(disk);
  checkOwner(identity, owner, disk.directory);
  if (disk.list().includes(createdFile)) await nameFirstSegment(disk);
  const { logId } = identity;
  const witness = TailWitness.open(disk, logId);
  if (witness === undefined) throw noWitness(disk);
  const recovered = recoverLog(disk, logId, witness.found);
  await forgetTornHeaders(disk, recovered);
  const active = disk.open(segmentName(recovered.tail.segment));
  await makeLastWriteDurable(active, recovered);
  await witness.begin(recovered.tail);
  const log = new FileLog({ disk, logId, recovered, active, witness, release }, tuning);
  return { log, starts: witness.starts };
}

function holdsLog(disk: Disk): boolean {
  return readIdentity(disk) !== undefined || disk.list().some((name) => segmentSequence(name) !== undefined);
}

function noLog(disk: Disk): LogError {
  const details = { directory: disk.directory };
  if (!holdsLog(disk)) return new LogError("missing", "there is no log", "create one for a new member", details);
  return new LogError("damaged", "the identity of the log is missing", rejoinAdvice, details);
}

function noWitness(disk: Disk): LogError {
  const problem = "the note of the log's end is missing or damaged, so that a loss could not be noticed";
  return new LogError("damaged", problem, rejoinAdvice, { directory: disk.directory, file: witnessFile });
}

async function writeFirstSegment(disk: Disk, logId: string, base: SnapshotMeta): Promise<void> {
  const salt = segmentSalt(logId, 1);
  const records: readonly LogRecord[] = [
    { kind: "base", base, clearsLog: true },
    { kind: "hardState", hardState: { term: base.term, vote: noMember, commit: base.index } },
  ];
  const bytes = Buffer.alloc(firstSegmentBytes);
  encodeSegmentHeader({ sequence: 1, chain: 0, write: 0, previousEnd: 0 }, salt, bytes);
  let offset = segmentHeaderBytes;
  let chain = 0;
  for (const record of records) {
    const lastOfWrite = record === records.at(-1);
    chain = encodeRecord(record, { segment: 1, salt, write: 1, chain, lastOfWrite }, bytes, offset);
    offset += recordBytes(record);
  }
  await writeNewFile(disk, createdFile, bytes);
}

async function nameFirstSegment(disk: Disk): Promise<void> {
  disk.rename(createdFile, segmentName(1));
  await disk.syncDirectory();
}

/** Clears the headers of segments whose first write was torn by a crash. They would contradict the next write. */
async function forgetTornHeaders(disk: Disk, { torn }: Recovered): Promise<void> {
  for (const sequence of torn) {
    const file = disk.open(segmentName(sequence));
    try {
      await file.write(new Uint8Array(segmentHeaderBytes), 0);
      await file.sync();
    } finally {
      file.close();
    }
  }
}

/**
 * Writes the newest write again. Its sync was not awaited or failed, so it may only be in the kernel's memory. After
 * this, the next sync covers these bytes rather than pages that the kernel believes clean.
 */
async function makeLastWriteDurable(active: DiskFile, { tail, lastWriteStart }: Recovered): Promise<void> {
  const from = lastWriteStart === segmentHeaderBytes ? 0 : lastWriteStart;
  const bytes = new Uint8Array(tail.end - from);
  active.read(bytes, from);
  await active.write(bytes, from);
  await active.sync();
}
