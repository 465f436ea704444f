import * as fs from "node:fs";
import { join } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";

/** Permissions. A log contains the data of the state machine, so no other user may read it. */
const directoryMode = 0o700;
const fileMode = 0o600;
const writeHereBytesMax = 256 << 10;

/** Opens a directory of the real file system. Creates it if it is missing. */
export function openSystemDisk(directory: string): Disk {
  fs.mkdirSync(directory, { recursive: true, mode: directoryMode });
  fs.chmodSync(directory, directoryMode);
  return {
    directory,
    list: () =>
      fs
        .readdirSync(directory, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
        .sort(),
    open: (name, how = "existing") => {
      const { O_CREAT, O_EXCL, O_RDWR } = fs.constants;
      const flags = how === "create" ? O_RDWR | O_CREAT | O_EXCL : O_RDWR;
      return new SystemFile(name, fs.openSync(join(directory, name), flags, fileMode));
    },
    rename: (from, to) => fs.renameSync(join(directory, from), join(directory, to)),
    remove: (name) => fs.unlinkSync(join(directory, name)),
    syncDirectory: () => syncDirectory(directory),
  };
}

class SystemFile implements DiskFile {
  readonly name: string;
  readonly #descriptor: number;

  constructor(name: string, descriptor: number) {
    this.name = name;
    this.#descriptor = descriptor;
  }

  size(): number {
    return fs.fstatSync(this.#descriptor).size;
  }

  read(into: Uint8Array, position: number): number {
    let done = 0;
    while (done < into.length) {
      const count = fs.readSync(this.#descriptor, into, done, into.length - done, position + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }

  /** Writes bytes. A small write is faster here than on another thread. */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    const here = bytes.length <= writeHereBytesMax;
    for (let done = 0; done < bytes.length; ) {
      const rest = bytes.subarray(done);
      done += here ? this.#writeHere(rest, position + done) : await this.#writeElsewhere(rest, position + done);
    }
  }

  #writeHere(bytes: Uint8Array, position: number): number {
    const count = fs.writeSync(this.#descriptor, bytes, 0, bytes.length, position);
    if (count === 0) throw this.#nothingWritten();
    return count;
  }

  /**
   * Writes on another thread. A short write is not an error in itself: the next one gives the reason, such as a disk that
   * has just become full.
   */
  #writeElsewhere(bytes: Uint8Array, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.write(this.#descriptor, bytes, 0, bytes.length, position, (error, count) => {
        if (error) reject(error);
        else if (count === 0) reject(this.#nothingWritten());
        else resolve(count);
      });
    });
  }

  #nothingWritten(): Error {
    return new Error(`no byte was written to ${this.name}`);
  }

  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fs.fdatasync(this.#descriptor, (error) => (error ? reject(error) : resolve()));
    });
  }

  close(): void {
    fs.closeSync(this.#descriptor);
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const descriptor = fs.openSync(directory, fs.constants.O_RDONLY);
  try {
    await new Promise<void>((resolve, reject) => {
      fs.fsync(descriptor, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    fs.closeSync(descriptor);
  }
}
