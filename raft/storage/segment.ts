import { crc32 } from "node:zlib";
import { decodeRecord, nextRecordOffset, type ReadRecord } from "./record.ts";

/**
 * A segment is one preallocated file of the log: a header of one sector, then records without gaps, then the former
 * contents of the file.
 *
 *     0   "raftlog\n"         16  u32  sequence number       32  u64  offset at which the segment before it ends
 *     8   u32  checksum       20  u32  chain                 40  zeros
 *     12  u32  format         24  u64  last write before
 *
 * A segment without a valid header for its own number is prepared: it has no records yet.
 */
export const segmentHeaderBytes = 512;
const magic = Buffer.from("raftlog\n");
export const logFormat = 1;
const half = 2 ** 32;

export interface SegmentHeader {
  readonly sequence: number;
  /** Checksum of the last record before this segment. */
  readonly chain: number;
  /** Number of the last write before this segment. */
  readonly write: number;
  readonly previousEnd: number;
}

/** Returns a file name. Numbers of one width sort as text. */
export function segmentName(sequence: number): string {
  return `${String(sequence).padStart(10, "0")}.segment`;
}

/** Parses a file name. Returns undefined for a file that is not a segment. */
export function segmentSequence(name: string): number | undefined {
  const match = /^(\d{10})\.segment$/.exec(name);
  return match === null ? undefined : Number(match[1]);
}

/** Returns the start value of the checksums in a segment. The log's own random id is enough: see `identity.ts`. */
export function segmentSalt(logId: string, sequence: number): number {
  return crc32(Buffer.from(`${logId} ${sequence}`));
}

export function encodeSegmentHeader(header: SegmentHeader, salt: number, into: Buffer): void {
  into.fill(0, 0, segmentHeaderBytes);
  magic.copy(into);
  into.writeUInt32LE(logFormat, 12);
  into.writeUInt32LE(header.sequence, 16);
  into.writeUInt32LE(header.chain, 20);
  into.writeUInt32LE(header.write % half, 24);
  into.writeUInt32LE(Math.floor(header.write / half), 28);
  into.writeUInt32LE(header.previousEnd % half, 32);
  into.writeUInt32LE(Math.floor(header.previousEnd / half), 36);
  into.writeUInt32LE(crc32(into.subarray(12, segmentHeaderBytes), salt), 8);
}

/** Decodes a header. Returns undefined without a complete header of this segment. */
export function decodeSegmentHeader(bytes: Buffer, sequence: number, salt: number): SegmentHeader | undefined {
  if (bytes.length < segmentHeaderBytes || !bytes.subarray(0, magic.length).equals(magic)) return undefined;
  if (crc32(bytes.subarray(12, segmentHeaderBytes), salt) !== bytes.readUInt32LE(8)) return undefined;
  if (bytes.readUInt32LE(16) !== sequence) return undefined;
  return {
    sequence,
    chain: bytes.readUInt32LE(20),
    write: bytes.readUInt32LE(24) + bytes.readUInt32LE(28) * half,
    previousEnd: bytes.readUInt32LE(32) + bytes.readUInt32LE(36) * half,
  };
}

/** The contents of a segment up to the first record that does not continue the log. */
export interface SegmentScan {
  /** Records of complete writes only. */
  readonly records: readonly ReadRecord[];
  /** Offset after the last complete write. */
  readonly end: number;
  readonly write: number;
  readonly chain: number;
  /** Number of the newest write with a record after `end`: `write` + 1 if a crash tore that write. */
  readonly writeBeyond: number | undefined;
}

/** @param start the state before the first record: a segment's header, or the values that it should have had */
export function scanSegment(bytes: Buffer, start: SegmentHeader, salt: number): SegmentScan {
  const records: ReadRecord[] = [];
  let whole = { count: 0, end: segmentHeaderBytes, write: start.write, chain: start.chain };
  let chain = start.chain;
  for (let offset = segmentHeaderBytes; ; ) {
    const found = decodeRecord(bytes, offset, start.sequence, salt);
    if (found === undefined || found.chain !== chain || found.write !== whole.write + 1) break;
    records.push(found);
    offset += found.bytes;
    chain = found.checksum;
    if (found.lastOfWrite) whole = { count: records.length, end: offset, write: found.write, chain };
  }
  const writeBeyond = newestWriteFrom(bytes, whole.end, start.sequence, salt);
  return {
    records: records.slice(0, whole.count),
    end: whole.end,
    write: whole.write,
    chain: whole.chain,
    writeBeyond,
  };
}

/** Searches for records at every offset where one may begin. */
function newestWriteFrom(bytes: Buffer, from: number, segment: number, salt: number): number | undefined {
  let newest: number | undefined;
  for (let offset = from; offset < bytes.length; ) {
    const found = decodeRecord(bytes, offset, segment, salt);
    if (found !== undefined) newest = Math.max(newest ?? 0, found.write);
    offset = found === undefined ? nextRecordOffset(offset) : offset + found.bytes;
  }
  return newest;
}
