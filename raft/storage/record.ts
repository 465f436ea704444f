import assert from "node:assert/strict";
import { crc32 } from "node:zlib";
import type { Entry, EntryKind } from "../core/entry.ts";
import { type Index, type MemberId, noMember, toIndex, toMemberId, toTerm } from "../core/ids.ts";
import type { Membership } from "../core/membership.ts";
import type { HardState } from "../core/ready.ts";
import type { SnapshotMeta } from "../core/snapshot.ts";

/**
 * One record of the log. Numbers are little-endian. Counts that may exceed 32 bits take eight bytes, low half first.
 *
 *      0  u32  checksum of what follows          24  u64  index      its own, or the commit index of a hard state
 *      4  u32  payload length                    32  u64  term
 *      8  u32  chain: checksum of the record     40  u8   kind
 *              before, over segments too         41  u8   flags: 1 last of its write, 2 the base clears the log
 *     12  u32  sequence number of the segment    42  u8   kind of entry
 *     16  u64  number of the write               43  u8   zero
 *     44  u32  checksum of the bytes 4 to 44     48  payload, then zeros up to a multiple of 8
 *
 * The header has its own checksum, so that the search for records after damage need not trust a length. Both checksums
 * start from the segment's salt, so that neither the former contents of a recycled segment nor bytes inside an entry
 * are taken for a record. Together with the chain, a record is valid only at its own place in its own log.
 */
export const recordHeaderBytes = 48;
const recordAlignment = 8;
const lastOfWriteFlag = 1;
const clearsLogFlag = 2;

export type LogRecord =
  | { readonly kind: "hardState"; readonly hardState: HardState }
  | { readonly kind: "entry"; readonly entry: Entry }
  | { readonly kind: "expected"; readonly expected: SnapshotMeta }
  /** With `clearsLog`, all earlier records are void. Otherwise the entries after the base stay. */
  | { readonly kind: "base"; readonly base: SnapshotMeta; readonly clearsLog: boolean };

/** The place of a record, which its checksum covers. */
export interface RecordPlace {
  readonly segment: number;
  readonly salt: number;
  readonly write: number;
  readonly chain: number;
  readonly lastOfWrite: boolean;
}

export interface ReadRecord {
  readonly record: LogRecord;
  readonly write: number;
  readonly chain: number;
  readonly checksum: number;
  readonly lastOfWrite: boolean;
  readonly bytes: number;
}

const recordKinds = ["hardState", "entry", "base", "expected"] as const;
const entryKinds: readonly EntryKind[] = ["normal", "confChange", "empty"];

export function recordBytes(record: LogRecord): number {
  return alignedBytes(recordHeaderBytes + payloadBytes(record));
}

/** Writes the record into `bytes` at `offset`, where it must fit, and returns its checksum. */
export function encodeRecord(record: LogRecord, place: RecordPlace, bytes: Buffer, offset: number): number {
  const length = payloadBytes(record);
  const { index, term } = position(record);
  bytes.fill(0, offset, offset + recordHeaderBytes);
  bytes.writeUInt32LE(length, offset + 4);
  bytes.writeUInt32LE(place.chain, offset + 8);
  bytes.writeUInt32LE(place.segment, offset + 12);
  writeCount(bytes, place.write, offset + 16);
  writeCount(bytes, index, offset + 24);
  writeCount(bytes, term, offset + 32);
  bytes[offset + 40] = recordKinds.indexOf(record.kind);
  const clears = record.kind === "base" && record.clearsLog;
  bytes[offset + 41] = (place.lastOfWrite ? lastOfWriteFlag : 0) | (clears ? clearsLogFlag : 0);
  bytes[offset + 42] = record.kind === "entry" ? entryKinds.indexOf(record.entry.kind) : 0;
  bytes.writeUInt32LE(crc32(bytes.subarray(offset + 4, offset + 44), place.salt), offset + 44);
  const end = offset + alignedBytes(recordHeaderBytes + length);
  if (length > 0) bytes.fill(0, end - recordAlignment, end);
  writePayload(record, bytes, offset + recordHeaderBytes);
  const checksum = crc32(bytes.subarray(offset + 4, end), place.salt);
  bytes.writeUInt32LE(checksum, offset);
  return checksum;
}

/**
 * Returns the record at `offset`, or undefined if there is no complete record of this segment. The caller uses `chain`
 * and `write` to check that it continues the record before it. The entry's data is a copy.
 */
export function decodeRecord(bytes: Buffer, offset: number, segment: number, salt: number): ReadRecord | undefined {
  if (offset + recordHeaderBytes > bytes.length || bytes.readUInt32LE(offset + 12) !== segment) return undefined;
  if (crc32(bytes.subarray(offset + 4, offset + 44), salt) !== bytes.readUInt32LE(offset + 44)) return undefined;
  const payloadEnd = offset + recordHeaderBytes + bytes.readUInt32LE(offset + 4);
  const end = offset + alignedBytes(payloadEnd - offset);
  if (end > bytes.length) return undefined;
  const checksum = bytes.readUInt32LE(offset);
  if (crc32(bytes.subarray(offset + 4, end), salt) !== checksum) return undefined;
  const flags = bytes[offset + 41] ?? 0;
  return {
    record: readRecord(bytes, offset, bytes.subarray(offset + recordHeaderBytes, payloadEnd)),
    write: readCount(bytes, offset + 16),
    chain: bytes.readUInt32LE(offset + 8),
    checksum,
    lastOfWrite: (flags & lastOfWriteFlag) !== 0,
    bytes: end - offset,
  };
}

/** Returns the next offset at which a record may begin. */
export function nextRecordOffset(offset: number): number {
  return offset + recordAlignment;
}

/** Decodes a record. @throws AssertionError for an unknown kind: the checksum was valid, so the record is not damaged */
function readRecord(bytes: Buffer, offset: number, payload: Buffer): LogRecord {
  const index = toIndex(readCount(bytes, offset + 24));
  const term = toTerm(readCount(bytes, offset + 32));
  const kind = recordKinds[bytes[offset + 40] ?? -1];
  assert(kind !== undefined, "a record with a valid checksum is of an unknown kind");
  switch (kind) {
    case "hardState":
      return { kind, hardState: { term, commit: index, vote: readMember(payload, 0) } };
    case "entry": {
      const entryKind = entryKinds[bytes[offset + 42] ?? -1];
      assert(entryKind !== undefined, "a record with a valid checksum holds an entry of an unknown kind");
      return { kind, entry: { index, term, kind: entryKind, data: new Uint8Array(payload) } };
    }
    case "base": {
      const clearsLog = ((bytes[offset + 41] ?? 0) & clearsLogFlag) !== 0;
      return { kind, base: { index, term, membership: readMembership(payload) }, clearsLog };
    }
    case "expected":
      return { kind, expected: { index, term, membership: readMembership(payload) } };
  }
}

function position(record: LogRecord): { readonly index: Index; readonly term: number } {
  switch (record.kind) {
    case "hardState":
      return { index: record.hardState.commit, term: record.hardState.term };
    case "entry":
      return record.entry;
    case "base":
      return record.base;
    case "expected":
      return record.expected;
  }
}

function payloadBytes(record: LogRecord): number {
  switch (record.kind) {
    case "hardState":
      return 8;
    case "entry":
      return record.entry.data.length;
    case "base":
      return membershipBytes(record.base.membership);
    case "expected":
      return membershipBytes(record.expected.membership);
  }
}

function writePayload(record: LogRecord, bytes: Buffer, offset: number): void {
  switch (record.kind) {
    case "hardState":
      writeCount(bytes, record.hardState.vote, offset);
      return;
    case "entry":
      bytes.set(record.entry.data, offset);
      return;
    case "base":
      writeMembership(record.base.membership, bytes, offset);
      return;
    case "expected":
      writeMembership(record.expected.membership, bytes, offset);
  }
}

/** Returns the lists. Each is encoded as its length and its members. */
function membershipLists({ voters, outgoing, learners, learnersNext }: Membership): readonly (readonly MemberId[])[] {
  return [voters, outgoing, learners, learnersNext];
}

function membershipBytes(membership: Membership): number {
  return membershipLists(membership).reduce((sum, list) => sum + 8 + 8 * list.length, 0);
}

function writeMembership(membership: Membership, bytes: Buffer, offset: number): void {
  for (const count of membershipLists(membership).flatMap((list) => [list.length, ...list])) {
    writeCount(bytes, count, offset);
    offset += 8;
  }
}

function readMembership(payload: Buffer): Membership {
  let offset = 0;
  const list = (): MemberId[] => {
    const count = readCount(payload, offset);
    offset += 8;
    assert(offset + 8 * count <= payload.length, "a membership is truncated");
    return Array.from({ length: count }, () => {
      offset += 8;
      return readMember(payload, offset - 8);
    });
  };
  return { voters: list(), outgoing: list(), learners: list(), learnersNext: list() };
}

function readMember(bytes: Buffer, offset: number): MemberId {
  const count = readCount(bytes, offset);
  return count === 0 ? noMember : toMemberId(count);
}

function alignedBytes(length: number): number {
  return Math.ceil(length / recordAlignment) * recordAlignment;
}

const half = 2 ** 32;

function writeCount(bytes: Buffer, count: number, offset: number): void {
  bytes.writeUInt32LE(count % half, offset);
  bytes.writeUInt32LE(Math.floor(count / half), offset + 4);
}

function readCount(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * half;
}
