import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { PowerVolume } from "../../raft/soak/volume.ts";

/** Sparse, so that only what is used takes memory. */
const diskBytes = 256 << 20;
/** What is left for the member's last words when its disk is full. */
const leftBytes = 4096;

/** A small file system of a member's own, with the power in our hands. */
export class MemberDisk {
  readonly #volume: PowerVolume;

  /** @param directory is made, and gets the file system */
  constructor(directory: string) {
    this.#volume = new PowerVolume(directory, diskBytes);
  }

  get directory(): string {
    return this.#volume.directory;
  }

  /** From here on every write fails, and what was not synced is lost. */
  cutPower(): void {
    this.#volume.cutPower();
  }

  /** After the power was cut and the member has ended. */
  restorePower(): void {
    this.#volume.restorePower();
  }

  /** Takes all space that is left, in pieces, as a member may be quicker with the last of it. */
  fill(): void {
    const file = openSync(this.#filler, "a");
    const piece = new Uint8Array(1 << 20);
    try {
      for (let free = this.#freeBytes; free > leftBytes; free = this.#freeBytes) {
        writeSync(file, piece, 0, Math.min(piece.length, free));
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    } finally {
      closeSync(file);
    }
  }

  release(): void {
    rmSync(this.#filler, { force: true });
  }

  close(): void {
    this.#volume.close();
  }

  get #freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.directory);
    return bavail * bsize;
  }

  get #filler(): string {
    return join(this.directory, "filler");
  }
}
