import BTree from "sorted-btree";
import type { SeededRandom } from "../../../raft/testing/simulator/seeded-random.ts";
import type { DatabaseOperation } from "../../../src/storage/mvcc/database.ts";
import { firstDatabase, formatVersion, type Identity } from "../../../src/storage/mvcc/identity.ts";

export type Records = BTree<string, Buffer>;

/** A write of a database: its operations happen together or not at all. */
export interface Write {
  readonly operations: readonly DatabaseOperation[];
  /** Whether it, and all before it, survive a power cut once it has ended. */
  readonly isSynced: boolean;
}

/** The records of one database: those that survive a power cut, and the writes since, oldest first. */
export class Files {
  durable: Records = new BTree();
  readonly writes: Write[] = [];
  visible: Records = new BTree();
  readonly flipped: FlippedBit[] = [];

  apply(write: Write): void {
    applyTo(this.visible, write);
    if (!write.isSynced) return;
    this.durable = this.visible.clone();
    this.writes.length = 0;
  }
}

/** A bit that has changed by itself. */
export interface FlippedBit {
  readonly key: string;
  readonly place: number;
  readonly bit: number;
}

/**
 * The data directory of a replica. A power cut keeps what was synced and any number of the writes after that, in order.
 * A write that has not ended can survive too.
 */
export class SimulatedVolume {
  readonly #random: SeededRandom;
  readonly databases = new Map<string, Files>();
  /** Whether a bit was flipped. The record may be gone by now. */
  isDamaged = false;
  identity: Identity = { format: formatVersion, id: "id", state: "new", database: firstDatabase, member: undefined };

  constructor(random: SeededRandom) {
    this.#random = random;
  }

  /** Returns the volume after a power cut. The processes before it keep the old one, which nobody reads again. */
  afterPowerCut(): SimulatedVolume {
    const next = new SimulatedVolume(this.#random);
    next.identity = this.identity;
    next.isDamaged = this.isDamaged;
    for (const [path, { durable, writes }] of this.databases) {
      const files = new Files();
      files.durable = durable.clone();
      for (const write of writes.slice(0, this.#random.below(writes.length + 1))) applyTo(files.durable, write);
      files.visible = files.durable.clone();
      next.databases.set(path, files);
    }
    return next;
  }

  /** Flips a bit of one of these records in the database that the directory names. */
  flipBit(isChosen: (key: string) => boolean = () => true): FlippedBit | undefined {
    const files = this.databases.get(this.identity.database);
    const keys = [...(files?.durable.keys() ?? [])].filter(isChosen);
    if (files === undefined || keys.length === 0) return undefined;
    const key = this.#random.pick(keys);
    const value = files.durable.get(key) as Buffer;
    const bit = { key, place: this.#random.below(value.length), bit: this.#random.below(8) };
    for (const records of [files.durable, files.visible]) records.set(key, flipped(value, bit));
    files.flipped.push(bit);
    this.isDamaged = true;
    return bit;
  }

  /** Returns the volume after the process was killed: the system still has all writes that have begun. */
  afterKill(): SimulatedVolume {
    const next = new SimulatedVolume(this.#random);
    next.identity = this.identity;
    next.isDamaged = this.isDamaged;
    for (const [path, { visible }] of this.databases) {
      const files = new Files();
      files.durable = visible.clone();
      files.visible = visible.clone();
      next.databases.set(path, files);
    }
    return next;
  }
}

/** Returns the value with the bit flipped. The old one stays as it is, because others may share it. */
export function flipped(value: Buffer, { place, bit }: FlippedBit): Buffer {
  const copy = Buffer.from(value);
  copy[place] = (copy[place] as number) ^ (1 << bit);
  return copy;
}

function applyTo(records: Records, { operations }: Write): void {
  for (const operation of operations) {
    if (operation.type === "put") records.set(operation.key, operation.value);
    else records.delete(operation.key);
  }
}
