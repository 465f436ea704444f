import { closeSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { PowerVolume } from "../../raft/soak/volume.ts";

/** Size of the disk. It is sparse, so only used space takes memory. */
const diskBytes = 256 << 20;
/** Space that a full disk leaves for the member's last messages. */
const leftBytes = 4096;

/** A member's own small file system, with a power switch. */
export class MemberDisk {
  readonly #volume: PowerVolume;

  /** @param directory is created, and receives the file system */
  constructor(directory: string) {
    this.#volume = new PowerVolume(directory, diskBytes);
  }

  get directory(): string {
    return this.#volume.directory;
  }

  /** Cuts the power. Every later write fails, and unsynced data is lost. */
  cutPower(): void {
    this.#volume.cutPower();
  }

  /** Restores the power after the member has ended. */
  restorePower(): void {
    this.#volume.restorePower();
  }

  /** Takes all remaining space, in pieces, because the member may get the last of it first. */
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
