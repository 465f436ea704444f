import { dlopen, FFIType, ptr } from "bun:ffi";
import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, rmSync, statfsSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The place of a member's files, and the faults that it supports. */
export interface Volume {
  readonly directory: string;
  close(): void;
}

export function plainVolume(directory: string): Volume {
  mkdirSync(directory, { recursive: true });
  return { directory, close: () => {} };
}

/** A small file system in memory. */
export class SmallVolume implements Volume {
  readonly directory: string;

  constructor(directory: string, bytes: number) {
    this.directory = directory;
    mkdirSync(directory, { recursive: true });
    run("mount", "-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", directory);
  }

  /** Takes all remaining space. The member may get the last of it first. */
  fill(): void {
    const { bavail, bsize } = statfsSync(this.directory);
    try {
      writeFileSync(this.#filler, Buffer.alloc(bavail * bsize));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
  }

  release(): void {
    rmSync(this.#filler, { force: true });
  }

  close(): void {
    run("umount", this.directory);
  }

  get #filler(): string {
    return join(this.directory, "filler");
  }
}

const imageBytesDefault = 48 << 20;
/** Request `_IOR('X', 125, __u32)` of the kernel's ext4, with the flag that leaves the journal unflushed. */
const shutdownRequest = 0x8004587d;
const shutdownWithoutLogFlush = 2;

/** A file system on a loop device with a power switch. A power cut loses all unsynced data. */
export class PowerVolume implements Volume {
  readonly directory: string;
  readonly #image: string;

  constructor(directory: string, imageBytes = imageBytesDefault) {
    this.directory = directory;
    this.#image = `${directory}.img`;
    mkdirSync(directory, { recursive: true });
    writeFileSync(this.#image, "");
    truncateSync(this.#image, imageBytes);
    run("mkfs.ext4", "-q", "-F", this.#image);
    this.#mount();
  }

  /** Cuts the power. Every later write fails and does not reach the disk. */
  cutPower(): void {
    const libc = dlopen("libc.so.6", {
      ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
    });
    const descriptor = openSync(this.directory, "r");
    try {
      const flags = new Uint32Array([shutdownWithoutLogFlush]);
      if (libc.symbols.ioctl(descriptor, shutdownRequest, ptr(flags)) !== 0)
        throw new Error("the shutdown was refused");
    } finally {
      closeSync(descriptor);
      libc.close();
    }
  }

  /** Restores the power. Replays the journal and mounts the file system again. */
  restorePower(): void {
    run("umount", this.directory);
    this.#mount();
  }

  close(): void {
    run("umount", this.directory);
    rmSync(this.#image);
  }

  #mount(): void {
    run("mount", "-o", "loop", this.#image, this.directory);
  }
}

/** Returns the reason why this machine cannot mount such volumes, or undefined if it can. */
export function whyNoMounts(withLoopDevice: boolean): string | undefined {
  if (process.getuid?.() !== 0) return "mounting needs root";
  if (withLoopDevice && !existsSync("/dev/loop-control")) return "there are no loop devices";
  const programs = [["mount", "--version"], ...(withLoopDevice ? [["mkfs.ext4", "-V"]] : [])] as const;
  for (const [program, argument] of programs) {
    try {
      run(program, argument);
    } catch {
      return `there is no ${program}`;
    }
  }
  return undefined;
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: "pipe" });
}
