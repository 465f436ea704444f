import { chmodSync, closeSync, constants, fstatSync, mkdirSync, openSync, readlinkSync, statSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { join, relative } from "node:path";

/** Opens a name without following it if it is a link, and without the right to read it. */
const openName = 0o10000000 | constants.O_NOFOLLOW;
const openFolder = openName | constants.O_DIRECTORY;

/** Thrown for a path that leaves its volume or cannot be made. The message is for the log: it may name host paths. */
export class SubPathError extends Error {
  override readonly name = "SubPathError";
}

/** A file or folder inside a volume that is held open, so that it stays the same one whatever happens to its path. */
export class HeldPath implements Disposable {
  readonly #file: number;
  /** Path at the moment of opening. */
  readonly path: string;

  constructor(file: number) {
    this.#file = file;
    this.path = readlinkSync(`/proc/self/fd/${file}`);
  }

  /** Path by which other processes of the machine reach the same file. */
  get handle(): string {
    return `/proc/${process.pid}/fd/${this.#file}`;
  }

  get isFolder(): boolean {
    return fstatSync(this.#file).isDirectory();
  }

  /** Reports whether a path leads to the same file now. */
  isAt(path: string): boolean {
    const own = fstatSync(this.#file);
    const other = statSync(path, { throwIfNoEntry: false });
    return other !== undefined && other.dev === own.dev && other.ino === own.ino;
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

/**
 * Opens a path inside a volume, and makes its folders if they are missing and may be made. Links inside the volume are
 * followed, as long as they stay in it. Programs in the volume may swap names for links at any time, so each name is
 * opened relative to the folder that is held open, and never followed.
 * @throws SubPathError if the path leaves the volume
 */
export async function openSubPath(volume: string, subPath: string, missing: "make" | "refuse"): Promise<HeldPath> {
  try {
    const root = await realpath(volume);
    const target = await resolveInside(root, subPath);
    return new HeldPath(openBelow(root, target, missing));
  } catch (error) {
    throw error instanceof SubPathError ? error : new SubPathError(`${subPath}: ${(error as Error).message}`);
  }
}

/** Returns the names from the root to the target, with the links that exist now resolved. */
async function resolveInside(root: string, subPath: string): Promise<string[]> {
  const names = subPath.split("/").filter((name) => name !== "" && name !== ".");
  // The longest part that exists is resolved; the rest is made.
  for (let count = names.length; count >= 0; count--) {
    const resolved = await realpath(join(root, ...names.slice(0, count))).catch(ifMissing);
    if (resolved === undefined) continue;
    const inside = relative(root, resolved);
    if (inside === ".." || inside.startsWith("../") || inside.startsWith("/")) {
      throw new SubPathError(`${subPath} leads to ${resolved}, outside of ${root}`);
    }
    return [...inside.split("/").filter((name) => name !== ""), ...names.slice(count)];
  }
  throw new SubPathError(`${root} does not exist`);
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

function openBelow(root: string, names: readonly string[], missing: "make" | "refuse"): number {
  const mode = statSync(root).mode & 0o777;
  let held = openSync(root, openFolder);
  try {
    for (const [index, name] of names.entries()) {
      if (name === "..") throw new SubPathError("must not contain '..'");
      const isLast = index === names.length - 1;
      const path = `/proc/self/fd/${held}/${name}`;
      const flags = isLast ? openName : openFolder;
      const next = missing === "make" ? openOrMake(path, flags, mode) : openSync(path, flags);
      closeSync(held);
      held = next;
    }
    if (fstatSync(held).isSymbolicLink()) throw new SubPathError("a link has taken the place of a file");
    return held;
  } catch (error) {
    closeSync(held);
    throw error;
  }
}

function openOrMake(path: string, flags: number, mode: number): number {
  try {
    return openSync(path, flags);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    mkdirSync(path, { mode });
    const made = openSync(path, openFolder);
    // The mode above is less what the agent's umask takes away.
    chmodSync(`/proc/self/fd/${made}`, mode);
    return made;
  }
}
