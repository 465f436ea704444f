import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readdirSync,
  renameSync,
  statSync,
  unlinkSync,
  write,
  writeSync,
} from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import type { Clock } from "../../process/clock.ts";

const writeAsync = promisify(write);

export interface RotatingFileOptions {
  readonly file: string;
  readonly clock: Clock;
  /** Size from which a file is renamed to its time, and a new one begins. */
  readonly sizeBytesMax: number;
  /** Age at which renamed files are deleted; 0 for never. */
  readonly ageMsMax: number;
  /** Number of renamed files above which the oldest are deleted; 0 for never. */
  readonly backupsMax: number;
  /**
   * Set if several processes write to the file: one rotates it, and the others follow. A write that meets a rotation goes
   * to the renamed file.
   */
  readonly sharing?: FileSharing | undefined;
}

export type FileSharing = "rotates" | "follows";

/**
 * An append-only file that only its owner can read. Rotated when it is full. The kernel does not mix the bytes of two
 * writes, so lines of several processes stay whole.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #descriptor: number;
  #size: number;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
    this.#descriptor = openSync(options.file, "a", 0o600);
    this.#size = fstatSync(this.#descriptor).size;
    if (options.sharing !== "follows") this.#removeOld();
  }

  /** Writes synchronously. @throws Error of the file system */
  write(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    let written = 0;
    while (written < bytes.length) {
      const count = writeSync(this.#descriptor, bytes, written);
      written += count;
      this.#size += count;
    }
  }

  /** Writes asynchronously; only one call at a time. Rejects with an Error of the file system. */
  async writeLater(bytes: Uint8Array): Promise<void> {
    this.#makeRoom(bytes.length);
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await writeAsync(this.#descriptor, bytes, written);
      written += bytesWritten;
      this.#size += bytesWritten;
    }
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #makeRoom(bytes: number): void {
    const { sharing } = this.#options;
    if (sharing === "follows") return this.#follow();
    if (sharing === "rotates") this.#size = fstatSync(this.#descriptor).size;
    if (this.#size > 0 && this.#size + bytes > this.#options.sizeBytesMax) this.#rotate();
  }

  #rotate(): void {
    const { file } = this.#options;
    // The file is missing if the last rotation was interrupted here, or if another program has moved it.
    if (existsSync(file)) renameSync(file, this.#backupName());
    const next = openSync(file, "a", 0o600);
    closeSync(this.#descriptor);
    this.#descriptor = next;
    this.#size = 0;
    this.#removeOld();
  }

  /** Opens the file again if it was renamed. */
  #follow(): void {
    const { file } = this.#options;
    const { ino, dev } = fstatSync(this.#descriptor);
    const current = statSync(file, { throwIfNoEntry: false });
    if (current?.ino === ino && current.dev === dev) return;
    const next = openSync(file, "a", 0o600);
    closeSync(this.#descriptor);
    this.#descriptor = next;
  }

  /** Returns a free name such as `audit-2026-01-02T03-04-05.006.log`. Existing files are not overwritten. */
  #backupName(): string {
    const { file, clock } = this.#options;
    const { folder, stem, extension } = parts(file);
    const time = new Date(clock.nowMs()).toISOString().slice(0, -1).replaceAll(":", "-");
    for (let count = 0; ; count++) {
      const name = join(folder, `${stem}-${time}${count === 0 ? "" : `-${count}`}${extension}`);
      if (!existsSync(name)) return name;
    }
  }

  #removeOld(): void {
    const { file, clock, ageMsMax, backupsMax } = this.#options;
    const backups = backupsOf(file);
    for (const [at, { path, timeMs }] of backups.entries()) {
      const tooMany = backupsMax > 0 && at >= backupsMax;
      const tooOld = ageMsMax > 0 && clock.nowMs() - timeMs > ageMsMax;
      if (tooMany || tooOld) unlinkSync(path);
    }
  }
}

/** Returns the rotated files, newest first. */
function backupsOf(file: string): { path: string; timeMs: number }[] {
  const { folder, stem, extension } = parts(file);
  return readdirSync(folder)
    .flatMap((name) => {
      if (!name.startsWith(`${stem}-`) || !name.endsWith(extension)) return [];
      const time = /^(\d{4}-\d{2}-\d{2})T(\d{2})-(\d{2})-(\d{2}\.\d{3})/.exec(name.slice(stem.length + 1));
      if (time === null) return [];
      return [{ path: join(folder, name), timeMs: Date.parse(`${time[1]}T${time[2]}:${time[3]}:${time[4]}Z`) }];
    })
    .sort((a, b) => b.timeMs - a.timeMs || (a.path < b.path ? 1 : -1));
}

function parts(file: string): { folder: string; stem: string; extension: string } {
  const extension = extname(file);
  return { folder: dirname(file), stem: basename(file, extension), extension };
}
