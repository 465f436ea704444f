import type { Entry } from "../core/entry.ts";
import { noIndex, noMember, noTerm } from "../core/ids.ts";
import { noMembership } from "../core/membership.ts";
import type { HardState } from "../core/ready.ts";
import type { SnapshotMeta } from "../core/snapshot.ts";
import type { Disk } from "./disk.ts";
import type { LogContents } from "./log.ts";
import { LogError, rejoinAdvice } from "./log-error.ts";
import type { LogRecord, ReadRecord } from "./record.ts";
import {
  decodeSegmentHeader,
  type SegmentHeader,
  type SegmentScan,
  scanSegment,
  segmentHeaderBytes,
  segmentName,
  segmentSalt,
  segmentSequence,
} from "./segment.ts";
import type { Tail } from "./tail-witness.ts";

/** A segment that holds records. */
export interface UsedSegment {
  readonly sequence: number;
  /** The highest index of an entry in it, or 0 if all its entries were replaced. */
  readonly lastIndex: number;
}

export interface Recovered {
  readonly contents: LogContents;
  /** Used segments, oldest first. The last one is written next. */
  readonly used: readonly UsedSegment[];
  /** Segments after the used ones: files without records. Those in `torn` have a header all the same. */
  readonly prepared: readonly number[];
  readonly torn: readonly number[];
  readonly tail: Tail;
  readonly chain: number;
  /** Start of the newest write in the last used segment. The header belongs to it if it is the first one there. */
  readonly lastWriteStart: number;
}

/**
 * Reads and checks the whole log. Only a write that never became durable may be missing or torn. Such a write is the last
 * one, the witness does not know it, and it has no successor. Anything else is damage.
 *
 * @throws LogError with the file and the offset
 */
export function recoverLog(disk: Disk, logId: string, witness: Tail): Recovered {
  const sequences = checkedSequences(disk);
  const walk = new Walk(disk, logId);
  for (const sequence of sequences) walk.visit(sequence);
  return walk.finish(witness);
}

/** Returns the segments in order. @throws LogError if there are none, or one is missing between others */
function checkedSequences(disk: Disk): number[] {
  const sequences = disk.list().flatMap((name) => segmentSequence(name) ?? []);
  const [first] = sequences;
  if (first === undefined) {
    throw new LogError("tailLost", "the log has no segments", rejoinAdvice, { directory: disk.directory });
  }
  const missing = sequences.findIndex((sequence, position) => sequence !== first + position);
  if (missing < 0) return sequences;
  const details = { directory: disk.directory, file: segmentName(first + missing) };
  throw new LogError("damaged", "this segment of the log is missing", rejoinAdvice, details);
}

class Walk {
  readonly #disk: Disk;
  readonly #logId: string;
  readonly #used: { sequence: number; lastIndex: number }[] = [];
  readonly #prepared: number[] = [];
  readonly #torn: number[] = [];
  #end = 0;
  #write = 0;
  #chain = 0;
  #lastWriteStart = 0;
  #hardState: HardState = { term: noTerm, vote: noMember, commit: noIndex };
  #base: SnapshotMeta = { index: noIndex, term: noTerm, membership: noMembership };
  #expected: SnapshotMeta | undefined;
  #entries: Entry[] = [];

  constructor(disk: Disk, logId: string) {
    this.#disk = disk;
    this.#logId = logId;
  }

  visit(sequence: number): void {
    const bytes = this.#read(segmentName(sequence));
    const salt = segmentSalt(this.#logId, sequence);
    const header = decodeSegmentHeader(bytes, sequence, salt);
    if (header === undefined) this.#visitPrepared(sequence, bytes, salt);
    else this.#visitUsed(header, scanSegment(bytes, header, salt));
  }

  finish(witness: Tail): Recovered {
    const last = this.#used.at(-1);
    if (last === undefined) throw this.#damaged(this.#prepared[0] ?? 0, 0, "no segment of the log has a header");
    if (witness.write > this.#write) {
      const problem = `the log ends with write ${this.#write}, although write ${witness.write} had been made durable`;
      const details = { directory: this.#disk.directory, file: segmentName(last.sequence), offset: this.#end };
      throw new LogError("tailLost", problem, rejoinAdvice, details);
    }
    return {
      contents: {
        hardState: this.#hardState,
        base: this.#base,
        entries: this.#entriesBehindBase(last.sequence),
        ...(this.#expected !== undefined && { expected: this.#expected }),
      },
      used: this.#used,
      prepared: this.#prepared,
      torn: this.#torn,
      tail: { write: this.#write, segment: last.sequence, end: this.#end },
      chain: this.#chain,
      lastWriteStart: this.#lastWriteStart,
    };
  }

  #read(name: string): Buffer {
    const file = this.#disk.open(name);
    try {
      const bytes = Buffer.allocUnsafe(file.size());
      return bytes.subarray(0, file.read(bytes, 0));
    } catch (cause) {
      const details = { directory: this.#disk.directory, file: name, cause };
      throw new LogError("damaged", `it cannot be read (${(cause as Error).message})`, rejoinAdvice, details);
    } finally {
      file.close();
    }
  }

  /** Checks that an unused segment holds no part of a durable write. */
  #visitPrepared(sequence: number, bytes: Buffer, salt: number): void {
    const nothingBefore: SegmentHeader = { sequence, chain: 0, write: Number.MAX_SAFE_INTEGER, previousEnd: 0 };
    const { writeBeyond = 0 } = scanSegment(bytes, nothingBefore, salt);
    if (writeBeyond > this.#write + 1) throw this.#damaged(sequence, 0, "the header of this segment is damaged");
    this.#prepared.push(sequence);
  }

  #visitUsed(header: SegmentHeader, scan: SegmentScan): void {
    const { sequence } = header;
    if (this.#used.length === 0) this.#adopt(header);
    else this.#checkContinuation(header);
    if (scan.writeBeyond !== undefined && scan.writeBeyond > scan.write + 1) {
      throw this.#damaged(sequence, scan.end, `write ${scan.write + 1} is damaged, and later writes follow it`);
    }
    if (scan.records.length === 0) {
      this.#torn.push(sequence);
      this.#prepared.push(sequence);
      return;
    }
    this.#used.push({ sequence, lastIndex: 0 });
    this.#takeRecords(scan.records, sequence);
    this.#end = scan.end;
    this.#write = scan.write;
    this.#chain = scan.chain;
  }

  #adopt(header: SegmentHeader): void {
    if (this.#prepared.length > 0)
      throw this.#damaged(this.#prepared[0] ?? 0, 0, "the header of this segment is damaged");
    this.#write = header.write;
    this.#chain = header.chain;
  }

  #checkContinuation({ sequence, previousEnd, write, chain }: SegmentHeader): void {
    const before = this.#used.at(-1)?.sequence ?? 0;
    if (sequence !== before + 1) throw this.#damaged(before + 1, 0, "the header of this segment is damaged");
    if (previousEnd === this.#end && write === this.#write && chain === this.#chain) return;
    const problem = `write ${this.#write + 1} is damaged: the next segment follows on write ${write} at byte ${previousEnd}`;
    throw this.#damaged(before, this.#end, problem);
  }

  #takeRecords(records: readonly ReadRecord[], sequence: number): void {
    const newestWrite = records.at(-1)?.write;
    let offset = segmentHeaderBytes;
    this.#lastWriteStart = 0;
    for (const { record, bytes, write } of records) {
      if (write === newestWrite && this.#lastWriteStart === 0) this.#lastWriteStart = offset;
      this.#take(record, sequence, offset);
      offset += bytes;
    }
  }

  #take(record: LogRecord, sequence: number, offset: number): void {
    switch (record.kind) {
      case "hardState":
        this.#hardState = record.hardState;
        return;
      case "base":
        this.#base = record.base;
        if (record.clearsLog) this.#clear();
        return;
      case "expected":
        this.#expected = record.expected;
        return;
      case "entry":
        this.#takeEntry(record.entry, sequence, offset);
    }
  }

  #clear(): void {
    this.#entries = [];
    for (const segment of this.#used) segment.lastIndex = 0;
  }

  /** Takes an entry, which cuts the log at its index. In the oldest segment the first one may have any index. */
  #takeEntry(entry: Entry, sequence: number, offset: number): void {
    const first = this.#entries[0]?.index ?? entry.index;
    const keep = Math.max(0, entry.index - first);
    if (keep > this.#entries.length) {
      const expected = first + this.#entries.length;
      throw this.#damaged(sequence, offset, `entry ${entry.index} follows where entry ${expected} is missing`);
    }
    this.#entries.length = keep;
    this.#entries.push(entry);
    const segment = this.#used.at(-1);
    if (segment !== undefined) segment.lastIndex = Math.max(segment.lastIndex, entry.index);
  }

  /**
   * Returns the entries after the base. The newest base may be newer than the oldest entries on disk, but a gap between
   * it and the entries is damage.
   */
  #entriesBehindBase(sequence: number): Entry[] {
    const { index, term } = this.#base;
    const first = this.#entries[0]?.index ?? index + 1;
    if (first > index + 1) {
      throw this.#damaged(sequence, this.#end, `the entries from ${index + 1} to ${first - 1} are missing`);
    }
    const atBase = this.#entries[index - first];
    if (atBase !== undefined && atBase.term !== term) {
      throw this.#damaged(sequence, this.#end, `entry ${index} has term ${atBase.term}, the base of the log ${term}`);
    }
    return this.#entries.slice(index + 1 - first);
  }

  #damaged(sequence: number, offset: number, problem: string): LogError {
    const details = { directory: this.#disk.directory, file: segmentName(sequence), offset };
    return new LogError("damaged", problem, rejoinAdvice, details);
  }
}
