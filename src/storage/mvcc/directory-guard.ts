import { open, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DataDirectoryError } from "./data-directory-error.ts";

const guardFile = "guard";
/** Start time that stands for a process that has ended. It never matches a guard. */
const ended = "ended";
/**
 * Maximum number of attempts. Two processes that start together may each find the other's stale guard; one of them then
 * gives up.
 */
const acquireTriesMax = 3;

/** Maximum wait for a killed process to exit if its successor is already starting. */
const ownerEndMsMax = 1_000;
const ownerCheckMs = 20;

/**
 * Directories that this process has open. Its own guard file is indistinguishable from one that an earlier process with
 * its pid left behind.
 */
const heldHere = new Set<string>();

interface Owner {
  readonly pid: number;
  /** Start time of the process in the kernel's units, or "" if it is unavailable. Detects a reused pid. */
  readonly started: string;
}

/**
 * Ensures one process per data directory. LevelDB has its own lock, but it does not work within a process. A guard is
 * taken over if its owner no longer runs.
 */
export class DirectoryGuard {
  readonly #path: string;
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, guardFile);
  }

  /** Takes the guard. @throws DataDirectoryError if a running process holds the directory */
  static async acquire(directory: string): Promise<DirectoryGuard> {
    const guard = new DirectoryGuard(resolve(directory));
    if (heldHere.has(guard.#directory)) throw inUse(directory, process.pid);
    heldHere.add(guard.#directory);
    try {
      await guard.#create();
    } catch (error) {
      heldHere.delete(guard.#directory);
      throw error;
    }
    return guard;
  }

  async release(): Promise<void> {
    await rm(this.#path, { force: true });
    heldHere.delete(this.#directory);
  }

  async #create(): Promise<void> {
    const mine: Owner = { pid: process.pid, started: await startOf(process.pid) };
    for (let attempt = 0; attempt < acquireTriesMax; attempt++) {
      if (await createExclusive(this.#path, JSON.stringify(mine))) return;
      const owner = await readOwner(this.#path);
      if (owner !== undefined && !(await hasEnded(owner, mine))) throw inUse(this.#directory, owner.pid);
      await this.#removeStale(owner);
    }
    throw new DataDirectoryError(this.#directory, "another process is opening it", "start one process at a time");
  }

  /**
   * Removes a stale guard. Renames it first, to notice a guard that another process has just taken over, and puts that
   * back.
   */
  async #removeStale(stale: Owner | undefined): Promise<void> {
    const aside = `${this.#path}.${process.pid}`;
    try {
      await rename(this.#path, aside);
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    const moved = await readOwner(aside);
    if (JSON.stringify(moved) === JSON.stringify(stale)) await rm(aside, { force: true });
    else await rename(aside, this.#path);
  }
}

function inUse(directory: string, pid: number): DataDirectoryError {
  return new DataDirectoryError(
    directory,
    `process ${pid} is using it`,
    "stop that process or choose another directory",
  );
}

/** Creates a file. Returns false if it already exists. */
async function createExclusive(path: string, text: string): Promise<boolean> {
  try {
    const file = await open(path, "wx", 0o600);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Reads the owner. Returns undefined if the file is gone or half written. */
async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    const { pid, started } = JSON.parse(await readFile(path, "utf8")) as Owner;
    return Number.isSafeInteger(pid) && pid > 0 ? { pid, started: String(started) } : undefined;
  } catch {
    return undefined;
  }
}

/** Reports whether the owner has ended. Waits a while for a running one. */
async function hasEnded(owner: Owner, mine: Owner): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < ownerEndMsMax; waitedMs += ownerCheckMs) {
    if (!(await isRunning(owner, mine))) return true;
    await Bun.sleep(ownerCheckMs);
  }
  return !(await isRunning(owner, mine));
}

async function isRunning(owner: Owner, mine: Owner): Promise<boolean> {
  // The pid is ours but the guard is not, so an earlier process with this pid left it.
  if (owner.pid === mine.pid) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return owner.started === (await startOf(owner.pid));
}

/**
 * Returns field 22 of the kernel's process record. Fields follow the command name, which ends at the last parenthesis. A
 * process that has ended but was not reaped yet (state Z) counts as ended.
 */
async function startOf(pid: number): Promise<string> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" || fields[0] === "X" ? ended : (fields[19] ?? "");
  } catch {
    return "";
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
