import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Clock } from "../../../process/clock.ts";

/** Size at which a log is put aside and a new one begun, as kubelet's containerLogMaxSize. */
const fileBytesMaxDefault = 10 * 1024 * 1024;
/** Number of files of a log, the current one included, as kubelet's containerLogMaxFiles. */
const filesMaxDefault = 5;
/** Longest text of one entry. A longer line takes several entries, all but the last of which are partial. */
const entryBytesMax = 16 * 1024;
const newline = 0x0a;

export type LogStream = "stdout" | "stderr";

export interface LogWriterOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly fileBytesMax?: number | undefined;
  readonly filesMax?: number | undefined;
}

/** Writes the output of a container to a file in CRI's format, one entry per line, and rotates the file. */
export class LogWriter implements Disposable {
  readonly #options: LogWriterOptions;
  readonly #unfinished: Record<LogStream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  #file: number | undefined;
  #size = 0;
  #change = Promise.withResolvers<void>();

  /** Opens the file, or continues it. */
  constructor(options: LogWriterOptions) {
    this.#options = options;
    mkdirSync(dirname(options.path), { recursive: true });
    this.#open();
  }

  get isClosed(): boolean {
    return this.#file === undefined;
  }

  /** Resolves at the next write, and at the end. */
  get changed(): Promise<void> {
    return this.#change.promise;
  }

  write(stream: LogStream, chunk: Uint8Array): void {
    if (this.#file === undefined) return;
    const time = entryTime(this.#options.clock.nowMs());
    const held = this.#unfinished[stream];
    let rest = held.length === 0 ? Buffer.from(chunk) : Buffer.concat([held, chunk]);
    const entries: Buffer[] = [];
    while (true) {
      const end = rest.indexOf(newline);
      if (end !== -1 && end <= entryBytesMax) {
        entries.push(entry(time, stream, "F", rest.subarray(0, end)));
        rest = rest.subarray(end + 1);
      } else if (rest.length >= entryBytesMax) {
        entries.push(entry(time, stream, "P", rest.subarray(0, entryBytesMax)));
        rest = rest.subarray(entryBytesMax);
      } else break;
    }
    // A copy, so that the rest does not hold the whole chunk.
    this.#unfinished[stream] = Buffer.from(rest);
    this.#append(entries);
  }

  /** Writes lines that have not ended, and closes the file. */
  [Symbol.dispose](): void {
    if (this.#file === undefined) return;
    const time = entryTime(this.#options.clock.nowMs());
    for (const stream of ["stdout", "stderr"] as const) {
      const rest = this.#unfinished[stream];
      if (rest.length > 0) this.#append([entry(time, stream, "F", rest)]);
    }
    closeSync(this.#file);
    this.#file = undefined;
    this.#change.resolve();
  }

  #append(entries: readonly Buffer[]): void {
    if (entries.length === 0 || this.#file === undefined) return;
    const bytes = Buffer.concat(entries);
    const { fileBytesMax = fileBytesMaxDefault } = this.#options;
    if (this.#size > 0 && this.#size + bytes.length > fileBytesMax) this.#rotate();
    writeAll(this.#file, bytes);
    this.#size += bytes.length;
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }

  #open(): void {
    this.#file = openSync(this.#options.path, "a", 0o640);
    this.#size = fstatSync(this.#file).size;
  }

  #rotate(): void {
    const { path, clock, filesMax = filesMaxDefault } = this.#options;
    if (this.#file !== undefined) closeSync(this.#file);
    renameSync(path, `${path}.${rotationTime(clock.nowMs())}`);
    for (const old of rotatedLogs(path).slice(0, -(filesMax - 1) || undefined)) rmSync(old, { force: true });
    this.#open();
  }
}

/** Returns the files that a log was put aside in, oldest first. */
export function rotatedLogs(path: string): string[] {
  const prefix = `${basename(path)}.`;
  const folder = dirname(path);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.startsWith(prefix));
  return names.sort().map((name) => join(folder, name));
}

/** Removes a log with all its parts. */
export function removeLog(path: string): void {
  for (const part of [...rotatedLogs(path), path]) rmSync(part, { force: true });
}

function entry(time: string, stream: LogStream, tag: "F" | "P", text: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`${time} ${stream} ${tag} `), text, Buffer.from("\n")]);
}

/** The clock has milliseconds; readers expect nanoseconds. */
function entryTime(timeMs: number): string {
  return new Date(timeMs).toISOString().replace("Z", "000000Z");
}

/** Returns the time as kubelet writes it after the name of a rotated log, with milliseconds, so that names differ. */
function rotationTime(timeMs: number): string {
  return new Date(timeMs)
    .toISOString()
    .replace("T", "-")
    .replace(/[-:.Z]/g, (c, at: number) => (at === 10 ? c : ""));
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(file, bytes, written);
}
