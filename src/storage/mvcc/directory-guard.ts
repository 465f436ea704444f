import { open, readFile, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DataDirectoryError } from "./data-directory-error.ts";

const guardFile = "guard";
/** The start of a process that has ended: no guard holds it. */
const ended = "ended";
/** Two processes that start together may each find the other's stale guard; after this many turns one of them gives up. */
const acquireTriesMax = 3;

/** A process that was killed a moment ago may still be on its way out when its successor starts. */
const ownerEndMsMax = 1_000;
const ownerCheckMs = 20;

/** Directories that this process has open: its own guard file looks the same as one left behind under its pid. */
const heldHere = new Set<string>();

interface Owner {
  readonly pid: number;
  /** When that process started, as the kernel counts; "" where it is not told. Tells a reused pid apart. */
  readonly started: string;
}

/**
 * One process per data directory, beside LevelDB's own lock, which does not hold within a process. A guard whose owner
 * no longer runs is taken over.
 */
export class DirectoryGuard {
  readonly #path: string;
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, guardFile);
  }

  /** @throws DataDirectoryError when a running process holds the directory */
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
    throw new DataDirectoryError(this.#directory, "its guard file changes hands", "start one process at a time");
  }

  /** By way of a rename, so that a guard which another process took over meanwhile is noticed and put back. */
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

/** False when the file is there already. */
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

/** Undefined when the file is gone, or was left behind half written. */
async function readOwner(path: string): Promise<Owner | undefined> {
  try {
    const { pid, started } = JSON.parse(await readFile(path, "utf8")) as Owner;
    return Number.isSafeInteger(pid) && pid > 0 ? { pid, started: String(started) } : undefined;
  } catch {
    return undefined;
  }
}

/** Waits a while for an owner that runs. */
async function hasEnded(owner: Owner, mine: Owner): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < ownerEndMsMax; waitedMs += ownerCheckMs) {
    if (!(await isRunning(owner, mine))) return true;
    await Bun.sleep(ownerCheckMs);
  }
  return !(await isRunning(owner, mine));
}

async function isRunning(owner: Owner, mine: Owner): Promise<boolean> {
  // Under our own pid, and not held here: left by a process that had this pid before.
  if (owner.pid === mine.pid) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  return owner.started === (await startOf(owner.pid));
}

/**
 * Field 22 of the kernel's process record: the fields follow the command's name, which ends at the last parenthesis.
 * A process that ended and was not reaped yet (state Z) holds nothing any more.
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
