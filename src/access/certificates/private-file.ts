import { chmod, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { StartupError } from "../../process/startup-error.ts";

const ownerOnly = 0o600;
const ownerOnlyDirectory = 0o700;
const forOthers = 0o077;

/**
 * Replaces a file that only its owner may read. Readers see the old text or the new one, even after a crash: the text is
 * first synced under another name.
 */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true, mode: ownerOnlyDirectory });
  const temporary = `${path}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  try {
    const file = await open(temporary, "wx", ownerOnly);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await chmod(temporary, ownerOnly);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes renames and removals in a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  await using opened = await open(directory, "r");
  await opened.sync();
}

/**
 * Reads a file that only its owner may read. Returns undefined if it does not exist.
 * @throws StartupError if others may read it, because such a key is no longer secret
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const state = await stat(path).catch(missingFile);
  if (state === undefined) return undefined;
  if ((state.mode & forOthers) !== 0) {
    throw new StartupError(
      `${path} can be read by others: run "chmod 600 ${path}", or remove the file to get a new one`,
    );
  }
  return await readFile(path, "utf8");
}

function missingFile(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
