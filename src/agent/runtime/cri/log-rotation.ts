import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "../../../process/clock.ts";
import { rotatedLogs } from "../log-file/log-writer.ts";

export interface LogLimits {
  readonly bytesMax: number;
  /** Number of files of a log, the current one included; 2 at least. */
  readonly filesMax: number;
}

const compressedSuffix = ".gz";
const temporarySuffix = ".tmp";

/**
 * Puts a log that has grown too large aside, so that the runtime writes a new one after `reopen`. Earlier parts are
 * compressed, except for the newest, which readers may still be at.
 */
export async function rotateLog(
  path: string,
  { bytesMax, filesMax }: LogLimits,
  clock: Clock,
  reopen: () => Promise<void>,
): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => undefined,
  );
  // A log that is absent was put aside by an agent that ended before the runtime knew.
  if (size === undefined) return reopen();
  if (size < bytesMax) return;
  const old = await keptParts(path);
  // The current part, and the one that it becomes, count too.
  const excess = Math.max(0, old.length - Math.max(0, filesMax - 2));
  for (const part of old.slice(0, excess)) await rm(part, { force: true });
  for (const part of old.slice(excess)) if (!part.endsWith(compressedSuffix)) await compress(part);
  const aside = `${path}.${rotationTime(clock.nowMs())}`;
  await rename(path, aside);
  try {
    await reopen();
  } catch (error) {
    // The runtime still writes to the file, which is rotated at the next try.
    await rename(aside, path);
    throw error;
  }
}

/** Returns the parts that were put aside, oldest first, after removal of what interrupted rotations left. */
async function keptParts(path: string): Promise<string[]> {
  const parts = rotatedLogs(path);
  const kept: string[] = [];
  for (const part of parts) {
    const isLeftOver = part.endsWith(temporarySuffix) || parts.includes(part + compressedSuffix);
    if (isLeftOver) await rm(part, { force: true });
    else kept.push(part);
  }
  return kept;
}

async function compress(path: string): Promise<void> {
  const temporary = path + temporarySuffix;
  const { mode } = await stat(path);
  await pipeline(createReadStream(path), createGzip(), createWriteStream(temporary, { mode }));
  await rename(temporary, path + compressedSuffix);
  await rm(path, { force: true });
}

/** Returns the time as upstream writes it after the name of a log: `20060102-150405`. */
function rotationTime(timeMs: number): string {
  const [date = "", time = ""] = new Date(timeMs).toISOString().split("T");
  return `${date.replaceAll("-", "")}-${time.slice(0, 8).replaceAll(":", "")}`;
}
