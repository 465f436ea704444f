import { type FileHandle, open, stat } from "node:fs/promises";
import type { LogLine } from "../runtime.ts";

/** Bytes that are read at once. */
const readBytes = 64 * 1024;
/** Longest entry. A log with a longer one is not in CRI's format. */
const entryBytesMax = 1024 * 1024;
const newline = 0x0a;

/** A log that may still grow. Once it has ended, its last entries are there. */
export interface GrowingLog {
  readonly isClosed: boolean;
  readonly changed: Promise<void>;
}

/**
 * Yields the entries of a log in CRI's format. With `growing`, waits for more until it has ended, also in the file that
 * replaces this one when the log is rotated. Lines that are not in the format are skipped.
 */
export async function* readLog(
  path: string,
  signal: AbortSignal,
  growing?: GrowingLog | undefined,
): AsyncGenerator<LogLine, void> {
  let file = await openExisting(path);
  try {
    let rest: Buffer = Buffer.alloc(0);
    while (file !== undefined && !signal.aborted) {
      // Taken before reading, so that no entry is missed that is written after the last read.
      const isLast = growing === undefined || growing.isClosed;
      const changed = growing?.changed;
      for (let chunk = await readMore(file); chunk.length > 0 && !signal.aborted; chunk = await readMore(file)) {
        const { lines, left } = splitLines(rest, chunk);
        rest = left;
        for (const line of lines) {
          const parsed = parseEntry(line);
          if (parsed !== undefined) yield parsed;
        }
      }
      const next = await replacement(path, file);
      if (next !== undefined) {
        // More may have been written to the old file just before it was put aside.
        for (const line of splitLines(rest, await readAll(file)).lines) {
          const parsed = parseEntry(line);
          if (parsed !== undefined) yield parsed;
        }
        rest = Buffer.alloc(0);
        await file.close();
        file = next;
      } else if (isLast) return;
      else await changeOrAbort(changed, signal);
    }
  } finally {
    await file?.close();
  }
}

/** Returns the entry of a line without its newline; undefined if it has another form. */
export function parseEntry(line: Buffer): LogLine | undefined {
  const [timeEnd = -1, streamEnd = -1, tagEnd = -1] = blanks(line);
  if (tagEnd === -1) return undefined;
  const time = line.toString("latin1", 0, timeEnd);
  const stream = line.toString("latin1", timeEnd + 1, streamEnd);
  const timeMs = Date.parse(time);
  if (Number.isNaN(timeMs) || (stream !== "stdout" && stream !== "stderr")) return undefined;
  // The tag is a list, of which the first element tells whether the line ends here.
  const isPartial = line[streamEnd + 1] === "P".charCodeAt(0);
  const text = line.subarray(tagEnd + 1);
  return { timeMs, time, stream, text: isPartial ? text : Buffer.concat([text, Buffer.of(newline)]) };
}

function blanks(line: Buffer): number[] {
  const found: number[] = [];
  for (let at = line.indexOf(" "); at !== -1 && found.length < 3; at = line.indexOf(" ", at + 1)) found.push(at);
  return found;
}

function splitLines(rest: Buffer, chunk: Buffer): { lines: Buffer[]; left: Buffer } {
  const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
  const lines: Buffer[] = [];
  let start = 0;
  for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  const left = bytes.subarray(start);
  return { lines, left: left.length > entryBytesMax ? Buffer.alloc(0) : left };
}

async function openExisting(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function readMore(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(readBytes), 0, readBytes, null);
  return buffer.subarray(0, bytesRead);
}

async function readAll(file: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let chunk = await readMore(file); chunk.length > 0; chunk = await readMore(file)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Opens the file that has taken the place of this one, if there is one. */
async function replacement(path: string, file: FileHandle): Promise<FileHandle | undefined> {
  const held = await file.stat();
  const current = await stat(path).catch(() => undefined);
  return current === undefined || current.ino === held.ino ? undefined : await openExisting(path);
}

/** Waits for either. Leaves nothing at the signal, which lives as long as the log is followed. */
async function changeOrAbort(changed: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const aborted = Promise.withResolvers<void>();
  const onAbort = () => aborted.resolve();
  signal.addEventListener("abort", onAbort);
  try {
    await Promise.race([changed, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
