import { crc32 } from "node:zlib";
import type { Disk, DiskFile } from "./disk.ts";

/** The end of the newest durable write. */
export interface Tail {
  /** Number of the write. */
  readonly write: number;
  readonly segment: number;
  /** End offset in the segment, in bytes. */
  readonly end: number;
}

interface Note extends Tail {
  /** Number of times the log was opened. */
  readonly starts: number;
}

/**
 * The durable end of the log, recorded outside the log, because a log cannot detect the loss of its own end.
 *
 * It is written after the log's sync and is not synced with each write, so it is never ahead of the log. After a kill of
 * the process it lacks at most the last one or two writes. After a power cut it names the last write before the witness's
 * own sync, at most `syncIntervalMs` earlier.
 *
 * Two slots in two sectors take turns, so that a torn one leaves the other.
 */
export const witnessFile = "tail";
const slotBytes = 4096;
const slotUsedBytes = 40;
const syncIntervalMs = 1000;
const half = 2 ** 32;

export class TailWitness {
  /** The tail that was recorded when the file was opened. */
  readonly found: Tail;
  /** Number of times the log was opened, including this one. */
  readonly starts: number;
  readonly #file: DiskFile;
  readonly #salt: number;
  #slot: number;
  #wanted: Tail | undefined;
  #writing: Promise<void> | undefined;
  #syncedAtMs = performance.now();

  private constructor(file: DiskFile, salt: number, found: Note, slot: number) {
    this.#file = file;
    this.#salt = salt;
    this.#slot = slot;
    this.found = found;
    this.starts = found.starts + 1;
  }

  static async create(disk: Disk, logId: string): Promise<void> {
    const file = disk.open(witnessFile, "create");
    const bytes = Buffer.alloc(2 * slotBytes);
    encodeNote({ write: 0, segment: 0, end: 0, starts: 0 }, witnessSalt(logId)).copy(bytes);
    try {
      await file.write(bytes, 0);
      await file.sync();
    } finally {
      file.close();
    }
  }

  /** Opens the witness. Returns undefined when neither slot can be read. */
  static open(disk: Disk, logId: string): TailWitness | undefined {
    if (!disk.list().includes(witnessFile)) return undefined;
    const file = disk.open(witnessFile);
    const bytes = Buffer.alloc(2 * slotBytes);
    file.read(bytes, 0);
    const salt = witnessSalt(logId);
    const notes = [0, 1].flatMap((slot) => {
      const note = decodeNote(bytes.subarray(slot * slotBytes), salt);
      return note === undefined ? [] : [{ note, slot }];
    });
    const [newest] = notes.sort(
      (left, right) => right.note.starts - left.note.starts || right.note.write - left.note.write,
    );
    if (newest === undefined) file.close();
    return newest && new TailWitness(file, salt, newest.note, newest.slot);
  }

  /** Makes durable that the log was opened again. It needs no space on the disk. */
  async begin(tail: Tail): Promise<void> {
    await this.#write(tail);
    await this.#file.sync();
  }

  /**
   * Records a durable tail. Does not wait for the disk, and writes only the newest of several tails. After a failure the
   * witness lags behind the log, so it detects less but does no harm.
   */
  note(tail: Tail): void {
    this.#wanted = tail;
    this.#writing ??= this.#writeAll()
      .catch(() => {})
      .finally(() => {
        this.#writing = undefined;
      });
  }

  async close(): Promise<void> {
    await this.#writing;
    try {
      await this.#file.sync();
    } finally {
      this.#file.close();
    }
  }

  async #writeAll(): Promise<void> {
    while (this.#wanted !== undefined) {
      const tail = this.#wanted;
      this.#wanted = undefined;
      await this.#write(tail);
      if (performance.now() - this.#syncedAtMs < syncIntervalMs) continue;
      this.#syncedAtMs = performance.now();
      await this.#file.sync();
    }
  }

  async #write(tail: Tail): Promise<void> {
    this.#slot = 1 - this.#slot;
    await this.#file.write(encodeNote({ ...tail, starts: this.starts }, this.#salt), this.#slot * slotBytes);
  }
}

function witnessSalt(logId: string): number {
  return crc32(Buffer.from(`${logId} tail`));
}

/** Encodes a checksum, then the counts, low half first. */
function encodeNote(note: Note, salt: number): Buffer {
  const bytes = Buffer.alloc(slotUsedBytes);
  [note.write, note.segment, note.end, note.starts].forEach((count, position) => {
    bytes.writeUInt32LE(count % half, 8 + 8 * position);
    bytes.writeUInt32LE(Math.floor(count / half), 12 + 8 * position);
  });
  bytes.writeUInt32LE(crc32(bytes.subarray(8), salt), 0);
  return bytes;
}

function decodeNote(bytes: Buffer, salt: number): Note | undefined {
  const slot = bytes.subarray(0, slotUsedBytes);
  if (crc32(slot.subarray(8), salt) !== slot.readUInt32LE(0)) return undefined;
  const count = (position: number) => slot.readUInt32LE(8 + 8 * position) + slot.readUInt32LE(12 + 8 * position) * half;
  return { write: count(0), segment: count(1), end: count(2), starts: count(3) };
}
