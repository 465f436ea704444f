import type { Disk, DiskFile } from "../storage/disk.ts";

/** Returns a disk with slower syncs, because local disks are faster than those of a real cluster. */
export function slowDisk(disk: Disk, addedMs: number): Disk {
  if (addedMs === 0) return disk;
  return {
    directory: disk.directory,
    list: () => disk.list(),
    open: (name, how) => slowFile(disk.open(name, how), addedMs),
    rename: (from, to) => disk.rename(from, to),
    remove: (name) => disk.remove(name),
    syncDirectory: () => disk.syncDirectory(),
  };
}

function slowFile(file: DiskFile, addedMs: number): DiskFile {
  return {
    name: file.name,
    size: () => file.size(),
    read: (into, position) => file.read(into, position),
    write: (bytes, position) => file.write(bytes, position),
    sync: async () => {
      await file.sync();
      await new Promise((resolve) => setTimeout(resolve, addedMs));
    },
    close: () => file.close(),
  };
}
