import type { ReachCrashPoint } from "../crash-point.ts";
import type { Disk, DiskFile } from "./disk.ts";
import { segmentName } from "./segment.ts";

/**
 * Makes segments in advance: filled with zeros and synced, or recycled after compaction. A write then never waits for the
 * file system to allocate space, and `fdatasync` has no metadata to write.
 */
const growingFile = "growing.segment";
/** Names of spare segments. One compaction frees several segments at once, and the log needs them again one by one. */
const spareFiles = ["spare-1.segment", "spare-2.segment", "spare-3.segment"];
const zerosBytes = 1 << 20;
/** Maximum number of dirty bytes at once, so that a sync of the log does not wait behind all of a new segment. */
const dirtyBytesMax = 4 << 20;

export class SegmentSupply {
  readonly #disk: Disk;
  readonly #reach: ReachCrashPoint;

  constructor(disk: Disk, reach: ReachCrashPoint) {
    this.#disk = disk;
    this.#reach = reach;
  }

  /** Returns a file with this number and at least this size. It has a durable name and no records of this log. */
  async provide(sequence: number, bytes: number): Promise<DiskFile> {
    const name = segmentName(sequence);
    const taken = this.#disk.list().includes(name) ? name : this.#takeSpare(name);
    const file = taken === undefined ? await this.#grow(name, bytes) : this.#disk.open(name);
    if (file.size() < bytes) await fill(file, bytes);
    await this.#disk.syncDirectory();
    this.#reach("segmentPrepared");
    return file;
  }

  /** Keeps some unused files and removes the others. */
  recycle(sequence: number): void {
    const names = this.#disk.list();
    const free = spareFiles.find((spare) => !names.includes(spare));
    if (free === undefined) this.#disk.remove(segmentName(sequence));
    else this.#disk.rename(segmentName(sequence), free);
  }

  #takeSpare(name: string): string | undefined {
    const names = this.#disk.list();
    const spare = spareFiles.find((one) => names.includes(one));
    if (spare === undefined) return undefined;
    this.#disk.rename(spare, name);
    return name;
  }

  async #grow(name: string, bytes: number): Promise<DiskFile> {
    if (this.#disk.list().includes(growingFile)) this.#disk.remove(growingFile);
    const file = this.#disk.open(growingFile, "create");
    try {
      await fill(file, bytes);
    } catch (error) {
      // If the disk is full, others need the space more.
      file.close();
      this.#disk.remove(growingFile);
      throw error;
    }
    file.close();
    this.#disk.rename(growingFile, name);
    return this.#disk.open(name);
  }
}

/** Fills the file with zeros up to this size, durably. */
async function fill(file: DiskFile, bytes: number): Promise<void> {
  const zeros = new Uint8Array(zerosBytes);
  for (let size = file.size(), dirty = 0; size < bytes; ) {
    const count = Math.min(zerosBytes, bytes - size);
    await file.write(zeros.subarray(0, count), size);
    size += count;
    dirty += count;
    if (dirty < dirtyBytesMax && size < bytes) continue;
    await file.sync();
    dirty = 0;
  }
}
