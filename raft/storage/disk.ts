/**
 * The few file operations that the log needs, in one directory. Names are relative to it and have no folders. Two
 * implementations: `system-disk.ts` on the real file system, and `simulated-disk.ts` in memory, with faults.
 */
export interface Disk {
  /** Name of the directory in error messages. */
  readonly directory: string;
  /** Returns the names of existing files, sorted. */
  list(): readonly string[];
  /** Opens a file for reading and writing. `create` makes an empty file, and fails if the name is taken. */
  open(name: string, how?: "existing" | "create"): DiskFile;
  /** Renames a file, replacing any file with the new name. Durable only after `syncDirectory`. */
  rename(from: string, to: string): void;
  remove(name: string): void;
  /** Makes creations, renames and removals durable. */
  syncDirectory(): Promise<void>;
}

export interface DiskFile {
  readonly name: string;
  /** Returns the size in bytes. */
  size(): number;
  /** Reads up to `into.length` bytes and returns their number, which is smaller only at the end of the file. */
  read(into: Uint8Array, position: number): number;
  /** Writes bytes. Resolves when the operating system has them, which does not make them durable. */
  write(bytes: Uint8Array, position: number): Promise<void>;
  /** Makes everything written so far durable: contents, and the size if it grew. */
  sync(): Promise<void>;
  close(): void;
}

/** Reads a small file completely. Returns undefined if it does not exist. */
export function readSmallFile(disk: Disk, name: string, bytesMax: number): Uint8Array | undefined {
  if (!disk.list().includes(name)) return undefined;
  const file = disk.open(name);
  try {
    const bytes = new Uint8Array(Math.min(file.size(), bytesMax + 1));
    return bytes.subarray(0, file.read(bytes, 0));
  } finally {
    file.close();
  }
}

/** Creates a file and syncs its bytes. The caller syncs the directory. */
export async function writeNewFile(disk: Disk, name: string, bytes: Uint8Array): Promise<void> {
  const file = disk.open(name, "create");
  try {
    await file.write(bytes, 0);
    await file.sync();
  } finally {
    file.close();
  }
}

/** Writes a small file atomically: after a crash it has the old bytes or the new ones, never a mixture. */
export async function replaceFile(disk: Disk, name: string, bytes: Uint8Array): Promise<void> {
  const aside = `${name}.new`;
  if (disk.list().includes(aside)) disk.remove(aside);
  await writeNewFile(disk, aside, bytes);
  disk.rename(aside, name);
  await disk.syncDirectory();
}
