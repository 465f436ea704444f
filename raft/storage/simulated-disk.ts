import assert from "node:assert/strict";
import type { Disk, DiskFile } from "./disk.ts";

/** Size of the unit that a disk writes atomically. */
const sectorBytes = 512;

export type DiskOperation = "write" | "sync" | "syncDirectory";

export interface SimulatedDiskOptions {
  /** Returns numbers in [0, 1) that decide which unsynced sectors and names survive a power cut. */
  readonly random: () => number;
  /** Capacity. Further writes fail with ENOSPC. */
  readonly capacityBytes?: number;
}

/**
 * A disk in memory that forgets unsynced data and fails on command. It imitates the harmful behaviour of Linux: after a
 * failed sync the unsynced sectors count as clean, so a second sync succeeds and makes nothing durable.
 */
export class SimulatedDisk implements Disk {
  readonly directory = "(simulated)";
  readonly #options: SimulatedDiskOptions;
  /** File names as programs see them, as they are on the platter, and the changes between, oldest first. */
  #names: Map<string, Inode>;
  #durableNames: Map<string, Inode>;
  #nameChanges: ((names: Map<string, Inode>) => void)[] = [];
  #failures: { readonly operation: DiskOperation; readonly name: string; readonly code: string }[] = [];
  #hangs: { readonly operation: DiskOperation; readonly name: string; readonly released: Promise<void> }[] = [];
  readonly #unreadable = new Set<string>();
  /** Whether the process of this disk has ended. Open handles then have no effect. */
  #gone = false;
  /** Number of successful operations by kind. Tests count syncs. */
  readonly counts: Record<DiskOperation, number> = { write: 0, sync: 0, syncDirectory: 0 };

  constructor(options: SimulatedDiskOptions, names = new Map<string, Inode>()) {
    this.#options = options;
    this.#names = names;
    this.#durableNames = new Map(names);
  }

  list(): readonly string[] {
    return [...this.#names.keys()].sort();
  }

  open(name: string, how: "existing" | "create" = "existing"): DiskFile {
    const found = this.#names.get(name);
    if (how === "create") {
      if (found !== undefined) throw systemError("EEXIST", name);
      const made = new Inode();
      this.#changeNames((names) => names.set(name, made));
      return new SimulatedFile(name, made, this);
    }
    if (found === undefined) throw systemError("ENOENT", name);
    return new SimulatedFile(name, found, this);
  }

  rename(from: string, to: string): void {
    const inode = this.#names.get(from);
    if (inode === undefined) throw systemError("ENOENT", from);
    this.#changeNames((names) => {
      names.delete(from);
      names.set(to, inode);
    });
  }

  remove(name: string): void {
    if (!this.#names.has(name)) throw systemError("ENOENT", name);
    this.#changeNames((names) => names.delete(name));
  }

  async syncDirectory(): Promise<void> {
    await this.before("syncDirectory", "");
    this.#durableNames = new Map(this.#names);
    this.#nameChanges = [];
    this.counts.syncDirectory++;
  }

  #changeNames(change: (names: Map<string, Inode>) => void): void {
    change(this.#names);
    this.#nameChanges.push(change);
  }

  /** Makes the next such operation on a file with this name prefix fail, once. A failed write may be partly done. */
  failNext(operation: DiskOperation, code: "EIO" | "ENOSPC", name = ""): void {
    this.#failures.push({ operation, code, name });
  }

  /** Makes every read of this file fail, as with a bad sector. */
  failReads(name: string): void {
    this.#unreadable.add(name);
  }

  isUnreadable(name: string): boolean {
    return this.#unreadable.has(name);
  }

  /** Makes the next such operation hang until the returned function is called. */
  hangNext(operation: DiskOperation, name = ""): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#hangs.push({ operation, name, released: promise });
    return resolve;
  }

  /** Flips one bit of the file's durable and visible contents. */
  flip(name: string, position: number, bit = 0): void {
    this.#inode(name).change((bytes) => {
      bytes[position] = (bytes[position] ?? 0) ^ (1 << bit);
    });
  }

  overwrite(name: string, position: number, contents: Uint8Array): void {
    this.#inode(name).change((bytes) => bytes.set(contents, position));
  }

  truncate(name: string, size: number): void {
    const inode = this.#inode(name);
    inode.durable = inode.durable.slice(0, size);
    inode.visible = inode.visible.slice(0, size);
  }

  contents(name: string): Uint8Array {
    return this.#inode(name).visible.slice();
  }

  /** Returns the disk after a kill of the process: the operating system still has all written data. */
  afterKill(): SimulatedDisk {
    this.#gone = true;
    return new SimulatedDisk(this.#options, new Map([...this.#names].map(([name, inode]) => [name, inode.copy()])));
  }

  /**
   * Returns the disk after a power cut: each unsynced sector was written or not, and a prefix of the unsynced name
   * changes survives.
   */
  afterPowerCut(): SimulatedDisk {
    this.#gone = true;
    const { random } = this.#options;
    const names = new Map(this.#durableNames);
    const survived = Math.floor(random() * (this.#nameChanges.length + 1));
    for (const change of this.#nameChanges.slice(0, survived)) change(names);
    const inodes = new Map<Inode, Inode>();
    for (const inode of names.values()) inodes.set(inode, inodes.get(inode) ?? inode.afterPowerCut(random));
    return new SimulatedDisk(
      this.#options,
      new Map([...names].map(([name, inode]) => [name, inodes.get(inode) ?? inode])),
    );
  }

  /** Executes a planned hang or failure. Called by the disk's own files. */
  async before(operation: DiskOperation, name: string): Promise<void> {
    const matches = (plan: { operation: DiskOperation; name: string }) =>
      plan.operation === operation && name.startsWith(plan.name);
    const hang = this.#hangs.findIndex(matches);
    if (hang >= 0) await this.#hangs.splice(hang, 1)[0]?.released;
    await Promise.resolve();
    if (this.#gone) await new Promise(() => {});
    const failure = this.#failures.findIndex(matches);
    if (failure >= 0) throw systemError(this.#failures.splice(failure, 1)[0]?.code ?? "EIO", name);
  }

  /** Returns how many of these bytes still fit. */
  room(growth: number): number {
    const used = [...this.#names.values()].reduce((sum, inode) => sum + inode.visible.length, 0);
    return Math.min(growth, Math.max(0, (this.#options.capacityBytes ?? Number.POSITIVE_INFINITY) - used));
  }

  get random(): () => number {
    return this.#options.random;
  }

  #inode(name: string): Inode {
    const inode = this.#names.get(name);
    assert(inode !== undefined, `no file ${name}`);
    return inode;
  }
}

/**
 * One file: its contents on the platter and as programs see it, and the sectors that differ because they are not
 * synced.
 */
class Inode {
  durable: Uint8Array = new Uint8Array(0);
  visible: Uint8Array = new Uint8Array(0);
  dirty = new Set<number>();

  write(bytes: Uint8Array, position: number): void {
    const end = position + bytes.length;
    if (end > this.visible.length) {
      const grown = new Uint8Array(end);
      grown.set(this.visible);
      this.visible = grown;
    }
    this.visible.set(bytes, position);
    for (let sector = Math.floor(position / sectorBytes); sector * sectorBytes < end; sector++) this.dirty.add(sector);
  }

  sync(): void {
    if (this.durable.length < this.visible.length) {
      const grown = new Uint8Array(this.visible.length);
      grown.set(this.durable);
      this.durable = grown;
    }
    for (const sector of this.dirty) {
      const start = sector * sectorBytes;
      this.durable.set(this.visible.subarray(start, start + sectorBytes), start);
    }
    this.dirty.clear();
  }

  change(edit: (bytes: Uint8Array) => void): void {
    edit(this.durable);
    edit(this.visible);
  }

  copy(): Inode {
    const copy = new Inode();
    copy.visible = this.visible.slice();
    copy.durable = this.durable.slice();
    copy.dirty = new Set(this.dirty);
    return copy;
  }

  afterPowerCut(random: () => number): Inode {
    const after = new Inode();
    const grew = this.visible.length > this.durable.length && random() < 0.5;
    const bytes = new Uint8Array(grew ? this.visible.length : this.durable.length);
    bytes.set(this.durable.subarray(0, bytes.length));
    for (const sector of this.dirty) {
      const start = sector * sectorBytes;
      if (start >= bytes.length || random() < 0.5) continue;
      bytes.set(this.visible.subarray(start, Math.min(start + sectorBytes, bytes.length)), start);
    }
    after.durable = bytes;
    after.visible = bytes.slice();
    return after;
  }
}

class SimulatedFile implements DiskFile {
  readonly name: string;
  readonly #inode: Inode;
  readonly #disk: SimulatedDisk;

  constructor(name: string, inode: Inode, disk: SimulatedDisk) {
    this.name = name;
    this.#inode = inode;
    this.#disk = disk;
  }

  size(): number {
    return this.#inode.visible.length;
  }

  read(into: Uint8Array, position: number): number {
    if (this.#disk.isUnreadable(this.name)) throw systemError("EIO", this.name);
    const found = this.#inode.visible.subarray(position, position + into.length);
    into.set(found);
    return found.length;
  }

  async write(bytes: Uint8Array, position: number): Promise<void> {
    const copy = bytes.slice();
    try {
      await this.#disk.before("write", this.name);
    } catch (error) {
      this.#inode.write(copy.subarray(0, Math.floor(this.#disk.random() * copy.length)), position);
      throw error;
    }
    const growth = Math.max(0, position + copy.length - this.size());
    const room = this.#disk.room(growth);
    this.#inode.write(copy.subarray(0, copy.length - (growth - room)), position);
    if (room < growth) throw systemError("ENOSPC", this.name);
    this.#disk.counts.write++;
  }

  async sync(): Promise<void> {
    try {
      await this.#disk.before("sync", this.name);
    } catch (error) {
      this.#inode.dirty.clear();
      throw error;
    }
    this.#inode.sync();
    this.#disk.counts.sync++;
  }

  close(): void {}
}

function systemError(code: string, name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${code}: ${name}`), { code });
}
