import {
  chmod,
  chown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { dirname, join, normalize } from "node:path";

/** Link to the folder with the current files. Programs watch it to learn of changes. */
const dataLink = "..data";
const nextLink = "..data_tmp";
const nameLengthMax = 255;
const pathLengthMax = 4096;
const folderMode = 0o755;

export interface ProjectedFile {
  readonly data: Uint8Array;
  readonly mode: number;
  /** Owner of the file; undefined for the agent. */
  readonly uid?: number | undefined;
}

/** Files by their paths below the folder. */
export type Payload = ReadonlyMap<string, ProjectedFile>;

/**
 * Makes a folder show a set of files, all of them changed at the same moment:
 *
 *     key    → ..data/key
 *     ..data → ..2026_03_01_10_00_00.abc/      a new folder for each change
 *
 * With a group, all files and folders belong to it and it can read them. Writes nothing if nothing has changed.
 * @throws Error for a path that leaves the folder
 */
export async function writeAtomically(folder: string, payload: Payload, group: number | undefined): Promise<void> {
  const files = new Map([...payload].map(([path, file]) => [checkedPath(path), file]));
  const current = await currentFolder(folder);
  const isCurrent = current !== undefined && (await hasExactly(join(folder, current), files));
  if (!isCurrent) {
    const next = await mkdtemp(join(folder, `..${timeName(new Date())}.`));
    try {
      await writeAll(next, files, group);
      await rm(join(folder, nextLink), { force: true });
      await symlink(next.slice(folder.length + 1), join(folder, nextLink));
      await rename(join(folder, nextLink), join(folder, dataLink));
    } catch (error) {
      await rm(next, { recursive: true, force: true });
      throw error;
    }
  }
  await showNames(folder, new Set([...files.keys()].map((path) => path.split("/")[0] ?? path)));
  if (!isCurrent) await removeOld(folder);
}

/** Returns the path without `.` and doubled slashes. @throws Error with upstream's message if it leaves the folder */
function checkedPath(path: string): string {
  if (path === "") throw new Error('invalid path: must not be empty: ""');
  if (path.startsWith("/")) throw new Error(`invalid path: must be relative path: ${path}`);
  if (path.length > pathLengthMax) {
    throw new Error(`invalid path: must be less than or equal to ${pathLengthMax} characters`);
  }
  const names = path.split("/");
  if (names.includes("..")) throw new Error(`invalid path: must not contain '..': ${path}`);
  if (names.some((name) => name.length > nameLengthMax)) {
    throw new Error(`invalid path: filenames must be less than or equal to ${nameLengthMax} characters`);
  }
  const clean = normalize(path).replace(/\/$/, "");
  // Names with two dots in front are the folder's own.
  if (clean.startsWith("..")) throw new Error(`invalid path: must not start with '..': ${path}`);
  if (clean === "." || path.includes("\0")) throw new Error(`invalid path: not a file name: ${JSON.stringify(path)}`);
  return clean;
}

async function currentFolder(folder: string): Promise<string | undefined> {
  try {
    const name = await readlink(join(folder, dataLink));
    // Anything else was not written here.
    return name.startsWith("..") && !name.includes("/") ? name : undefined;
  } catch {
    return undefined;
  }
}

async function hasExactly(folder: string, files: Payload): Promise<boolean> {
  try {
    const present = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = present.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
    if (paths.length !== files.size) return false;
    for (const [path, { data }] of files) if (!(await readFile(join(folder, path))).equals(data)) return false;
    return true;
  } catch {
    return false;
  }
}

async function writeAll(folder: string, files: Payload, group: number | undefined): Promise<void> {
  await chmod(folder, folderMode);
  const folders = new Set([folder]);
  for (const [path, { data, mode, uid }] of files) {
    const file = join(folder, path);
    for (let above = dirname(file); !folders.has(above); above = dirname(above)) folders.add(above);
    await mkdir(dirname(file), { recursive: true, mode: folderMode });
    await writeFile(file, data, { mode: 0o600 });
    if (uid !== undefined || group !== undefined) await chown(file, uid ?? process.getuid?.() ?? 0, group ?? -1);
    await chmod(file, group === undefined ? mode : mode | 0o440);
  }
  if (group !== undefined) for (const one of folders) await shareFolder(one, group);
}

/** Gives a folder to a group, also for the files that are made in it later. */
export async function shareFolder(folder: string, group: number): Promise<void> {
  const { mode, uid } = await lstat(folder);
  await chown(folder, uid, group);
  await chmod(folder, (mode & 0o777) | 0o2550);
}

/** Makes the links to the files that are there, and removes those to files that no longer are. */
async function showNames(folder: string, names: ReadonlySet<string>): Promise<void> {
  const present = new Set(await readdir(folder));
  for (const name of names) {
    if (!present.has(name)) await symlink(join(dataLink, name), join(folder, name));
  }
  for (const name of present) {
    if (!name.startsWith("..") && !names.has(name)) await rm(join(folder, name), { recursive: true, force: true });
  }
}

async function removeOld(folder: string): Promise<void> {
  const current = await currentFolder(folder);
  for (const name of await readdir(folder)) {
    const isOld = name.startsWith("..") && name !== dataLink && name !== current;
    if (isOld) await rm(join(folder, name), { recursive: true, force: true });
  }
}

function timeName(time: Date): string {
  return time.toISOString().slice(0, 19).replaceAll(/[-:T]/g, "_");
}
