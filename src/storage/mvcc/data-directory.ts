import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DataDirectoryError } from "./data-directory-error.ts";
import { DirectoryGuard } from "./directory-guard.ts";
import {
  encodeIdentity,
  firstDatabase,
  formatVersion,
  type Identity,
  type MemberIdentity,
  parseIdentity,
} from "./identity.ts";

const identityFile = "identity.json";
const directoryMode = 0o700;
const fileMode = 0o600;
/** Permission bits of everyone except the owner. */
const othersMask = 0o077;

/**
 * The data directory of one replica, held by this process alone:
 *
 *     identity.json   format, id, which member this is, and whether the database was created
 *     guard           the process that holds the directory
 *     state/          the database; it has another name after a snapshot replaced it
 *     log/            the log of commands
 */
export class DataDirectory {
  readonly path: string;
  readonly #guard: DirectoryGuard;
  #identity: Identity;

  private constructor(path: string, guard: DirectoryGuard, identity: Identity) {
    this.path = path;
    this.#guard = guard;
    this.#identity = identity;
  }

  /**
   * Opens a directory, and creates it if it is missing or empty.
   * @param member the owner of a new directory
   * @throws DataDirectoryError
   */
  static async open(
    directory: string,
    member: MemberIdentity,
    newId: () => string = randomUUID,
  ): Promise<DataDirectory> {
    const path = resolve(directory);
    await prepareDirectory(path);
    const guard = await DirectoryGuard.acquire(path);
    try {
      const identity = (await readIdentity(path)) ?? (await createIdentity(path, newId(), member));
      return new DataDirectory(path, guard, identity);
    } catch (error) {
      await guard.release();
      throw error;
    }
  }

  get identity(): Identity {
    return this.#identity;
  }

  get databasePath(): string {
    return join(this.path, this.#identity.database);
  }

  get logPath(): string {
    return join(this.path, "log");
  }

  /** Records that the database holds the id durably. Call it after that is true. */
  async markReady(): Promise<void> {
    await syncDirectory(this.databasePath);
    await this.#change({ state: "ready" });
  }

  /** Assigns the directory to this member, in the newest format. */
  async setMember(member: MemberIdentity): Promise<void> {
    await this.#change({ format: formatVersion, member });
  }

  /** Returns an unused path for the next database. */
  async newDatabasePath(): Promise<string> {
    await this.removeOtherDatabase();
    return this.#otherDatabasePath;
  }

  /** Switches to the database at `newDatabasePath`. Remove the old database once it has no readers. */
  async switchDatabase(): Promise<void> {
    await syncDirectory(this.#otherDatabasePath);
    await this.#change({ database: otherDatabase(this.#identity.database) });
  }

  /** Removes a database that was replaced, or was never put into use. */
  async removeOtherDatabase(): Promise<void> {
    await rm(this.#otherDatabasePath, { recursive: true, force: true });
  }

  get #otherDatabasePath(): string {
    return join(this.path, otherDatabase(this.#identity.database));
  }

  async #change(change: Partial<Identity>): Promise<void> {
    const identity = { ...this.#identity, ...change };
    await writeIdentity(this.path, identity);
    this.#identity = identity;
  }

  async release(): Promise<void> {
    await this.#guard.release();
  }
}

function otherDatabase(database: string): string {
  return database === firstDatabase ? `${firstDatabase}-2` : firstDatabase;
}

async function prepareDirectory(path: string): Promise<void> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new DataDirectoryError(path, `it cannot be read (${error.code})`, "check the path and its owner");
  });
  if (found === undefined) return createDirectory(path);
  if (!found.isDirectory()) throw new DataDirectoryError(path, "it is not a directory", "choose another path");
  if ((found.mode & othersMask) === 0) return;
  // The directory is empty, like a freshly mounted volume, so its permissions have exposed nothing.
  if ((await readdir(path)).length === 0) return chmod(path, directoryMode);
  throw tooOpen(path, path, found.mode, directoryMode);
}

async function createDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: directoryMode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new DataDirectoryError(path, `it cannot be created (${code})`, "check the path and its owner");
  }
  await syncDirectory(dirname(path));
}

async function readIdentity(path: string): Promise<Identity | undefined> {
  const file = join(path, identityFile);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new DataDirectoryError(path, `${identityFile} cannot be read (${error.code})`, "check its owner");
  });
  if (text === undefined) return undefined;
  const { mode } = await stat(file);
  if ((mode & othersMask) !== 0) throw tooOpen(path, file, mode, fileMode);
  const identity = parseIdentity(text);
  if (identity === undefined) {
    throw new DataDirectoryError(path, `${identityFile} is damaged`, "restore the directory from a backup or a peer");
  }
  if (identity.format > formatVersion) {
    throw new DataDirectoryError(
      path,
      `its format ${identity.format} is newer than ${formatVersion}, the newest that this version knows`,
      "use a newer version",
    );
  }
  return identity;
}

/** Creates the identity. Rejects a directory with other content, which must not be overwritten. */
async function createIdentity(path: string, id: string, member: MemberIdentity): Promise<Identity> {
  const foreign = (await readdir(path)).find((name) => name !== "guard" && !name.startsWith(`${identityFile}.`));
  if (foreign !== undefined) {
    throw new DataDirectoryError(path, `it has no ${identityFile} but holds ${foreign}`, "choose an empty directory");
  }
  const identity: Identity = { format: formatVersion, id, state: "new", database: firstDatabase, member };
  await writeIdentity(path, identity);
  return identity;
}

/** Writes the file durably and atomically. */
async function writeIdentity(path: string, identity: Identity): Promise<void> {
  const file = join(path, identityFile);
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, "w", fileMode);
  try {
    await handle.writeFile(encodeIdentity(identity));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  await syncDirectory(path);
}

export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function tooOpen(path: string, file: string, mode: number, allowed: number): DataDirectoryError {
  const found = (mode & 0o777).toString(8);
  return new DataDirectoryError(
    path,
    `${file} is open to others (mode ${found})`,
    `run: chmod ${allowed.toString(8)} ${file}`,
  );
}
