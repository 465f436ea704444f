import * as fs from "node:fs";
import { join, resolve } from "node:path";
import { LogError } from "./log-error.ts";

const guardFile = "guard";
/**
 * Maximum number of attempts. Two processes that start together may each find the other's stale guard; one of them then
 * gives up.
 */
const acquireTriesMax = 3;

/**
 * Directories that this process has open. Its own guard is indistinguishable from one that an earlier process with its
 * pid left behind.
 */
const heldHere = new Set<string>();

/** A process with its start time in the kernel's units, because pids are reused. */
interface Holder {
  readonly pid: number;
  readonly started: string;
}

/**
 * Ensures one running log per directory. Takes over the guard of a process that ended.
 *
 * @returns a function that releases the directory
 * @throws LogError `inUse`
 */
export function guardDirectory(directory: string): () => Promise<void> {
  const resolved = resolve(directory);
  const path = join(resolved, guardFile);
  if (heldHere.has(resolved)) throw inUse(directory, process.pid);
  takeGuard(directory, path);
  heldHere.add(resolved);
  return async () => {
    fs.rmSync(path, { force: true });
    heldHere.delete(resolved);
  };
}

function takeGuard(directory: string, path: string): void {
  const mine: Holder = { pid: process.pid, started: startOf(process.pid) ?? "" };
  for (let attempt = 0; attempt < acquireTriesMax; attempt++) {
    if (createExclusively(path, JSON.stringify(mine))) return;
    const holder = readHolder(path);
    if (holder !== undefined && isRunning(holder)) throw inUse(directory, holder.pid);
    removeStale(path, holder);
  }
  const advice = "start one process at a time";
  throw new LogError("inUse", "another process is opening it", advice, { directory, file: guardFile });
}

/**
 * Removes a stale guard. Renames it first, to notice a guard that another process has just taken over, and puts that
 * back.
 */
function removeStale(path: string, stale: Holder | undefined): void {
  const aside = `${path}.${process.pid}`;
  try {
    fs.renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  if (JSON.stringify(readHolder(aside)) === JSON.stringify(stale)) fs.rmSync(aside, { force: true });
  else fs.renameSync(aside, path);
}

function createExclusively(path: string, text: string): boolean {
  try {
    fs.writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Reads the holder. Returns undefined if the file is gone or half written. */
function readHolder(path: string): Holder | undefined {
  try {
    const { pid, started } = JSON.parse(fs.readFileSync(path, "utf8")) as Record<string, unknown>;
    return Number.isSafeInteger(pid) && Number(pid) > 0 ? { pid: Number(pid), started: String(started) } : undefined;
  } catch {
    return undefined;
  }
}

function isRunning(holder: Holder): boolean {
  // A guard with our pid that this process does not hold is from an earlier process with this pid.
  return holder.pid !== process.pid && holder.started === startOf(holder.pid);
}

/**
 * Returns the start time of a process: field 22 of its kernel record, where the fields follow the command name, which
 * ends at the last parenthesis. Returns undefined if it no longer runs; a process that ended but was not reaped yet (Z,
 * X) counts as ended. Without such kernel records, returns "" for any existing process.
 */
function startOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return undefined;
  }
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? undefined : fields[19];
  } catch {
    return "";
  }
}

function inUse(directory: string, pid: number): LogError {
  const advice = "stop that process or choose another directory";
  return new LogError("inUse", `process ${pid} has it open`, advice, { directory });
}
