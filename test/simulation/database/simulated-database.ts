import type { SeededRandom } from "../../../raft/testing/simulator/seeded-random.ts";
import type { Database, DatabaseOperation } from "../../../src/storage/mvcc/database.ts";
import { metaKey } from "../../../src/storage/mvcc/layout.ts";
import { Files, type Records, type SimulatedVolume, type Write } from "./simulated-volume.ts";

/** Deliberate errors of the code above the database, which the simulation must detect. */
export const databaseMutations = [
  /** The position of the state is written before the events that lead to it. */
  "checkpointBeforeEvents",
  /** A write ends before it is synced. */
  "writesWithoutSync",
  /** An image lacks a record. */
  "imageWithoutRecord",
  /** A sweep removes one event too many. */
  "sweepTakesMore",
  /** Checksums are not compared. */
  "damageUnchecked",
] as const;

export type DatabaseMutation = (typeof databaseMutations)[number];

export interface SimulatedDatabaseOptions {
  readonly volume: SimulatedVolume;
  readonly path: string;
  readonly random: SeededRandom;
  readonly mutation: DatabaseMutation | undefined;
  /** Maximum number of turns of the event loop that a call takes; 3 by default. */
  readonly turnsMax?: number;
}

interface Range {
  readonly gte?: string;
  readonly lt?: string;
  readonly lte?: string;
  readonly limit?: number;
  readonly snapshot?: { readonly records: Records };
}

const stateKey = metaKey("state");
const turnsMaxDefault = 3;

/** LevelDB on a simulated volume, with the methods that the store calls. Writes take a few turns of the event loop. */
export class SimulatedDatabase {
  readonly #files: Files;
  readonly #random: SeededRandom;
  readonly #mutation: DatabaseMutation | undefined;
  readonly #turnsMax: number;
  #failure: string | undefined;
  #isOpen = true;

  constructor({ volume, path, random, mutation, turnsMax = turnsMaxDefault }: SimulatedDatabaseOptions) {
    this.#files = volume.databases.get(path) ?? new Files();
    volume.databases.set(path, this.#files);
    this.#random = random;
    this.#mutation = mutation;
    this.#turnsMax = turnsMax;
    if (mutation === "damageUnchecked") this.#signDamage();
  }

  /** Returns the database as the type that the store uses. */
  get asDatabase(): Database {
    return this as unknown as Database;
  }

  /** Makes the next write fail, as a full or broken disk does. */
  failNextWrite(code: string): void {
    this.#failure = code;
  }

  async open(): Promise<void> {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    this.#isOpen = false;
  }

  async get(key: string, { snapshot }: Range = {}): Promise<Buffer | undefined> {
    await this.#turns();
    return (snapshot?.records ?? this.#files.visible).get(key);
  }

  async getMany(keys: readonly string[], { snapshot }: Range = {}): Promise<(Buffer | undefined)[]> {
    const records = snapshot?.records ?? this.#files.visible;
    await this.#turns();
    return keys.map((key) => records.get(key));
  }

  async batch(operations: readonly DatabaseOperation[], { sync }: { readonly sync: boolean }): Promise<void> {
    for (const write of this.#asWrites(operations, sync)) await this.#write(write);
  }

  snapshot(): { readonly records: Records; close(): Promise<void> } {
    return { records: this.#files.visible.clone(), close: async () => undefined };
  }

  iterator(range: Range & { readonly keys?: boolean }) {
    let entries = this.#entries(range);
    // Only images ask for keys.
    if (this.#mutation === "imageWithoutRecord" && range.keys === true) entries = entries.slice(1);
    return iteratorOver(entries, () => this.#turns());
  }

  keys(range: Range) {
    return iteratorOver(
      this.#entries(range).map(([key]) => key),
      () => this.#turns(),
    );
  }

  #entries({ gte = "", lt, lte, limit = Number.POSITIVE_INFINITY, snapshot }: Range): [string, Buffer][] {
    const found: [string, Buffer][] = [];
    for (const [key, value] of (snapshot?.records ?? this.#files.visible).entries(gte)) {
      if ((lt !== undefined && key >= lt) || (lte !== undefined && key > lte) || found.length >= limit) break;
      found.push([key, value]);
    }
    return found;
  }

  #asWrites(operations: readonly DatabaseOperation[], sync: boolean): Write[] {
    if (this.#mutation === "writesWithoutSync") return [{ operations, isSynced: false }];
    if (this.#mutation === "checkpointBeforeEvents") {
      const isCheckpoint = ({ key }: DatabaseOperation) => key === stateKey;
      const parts = [operations.filter(isCheckpoint), operations.filter((operation) => !isCheckpoint(operation))];
      return parts.map((part) => ({ operations: part, isSynced: sync }));
    }
    if (this.#mutation === "sweepTakesMore") {
      const [last] = operations.slice(-1);
      const next = last?.type === "del" && last.key.startsWith("e") ? this.#entries({ gte: last.key })[1] : undefined;
      if (next?.[0].startsWith("e"))
        return [{ operations: [...operations, { type: "del", key: next[0] }], isSynced: sync }];
    }
    return [{ operations, isSynced: sync }];
  }

  /** Gives damaged records the checksums that match. Readers then see what they would see without checking. */
  #signDamage(): void {
    for (const { key } of this.#files.flipped.splice(0)) {
      for (const records of [this.#files.durable, this.#files.visible]) {
        const value = records.get(key);
        if (value !== undefined) records.set(key, signed(key, value));
      }
    }
  }

  async #write(write: Write): Promise<void> {
    if (!this.#isOpen) throw new Error("the database is not open");
    const code = this.#failure;
    this.#failure = undefined;
    if (code !== undefined) throw Object.assign(new Error(`IO error: ${code}`), { code });
    // The write can survive a power cut from now on.
    const begun: Write = { operations: write.operations, isSynced: false };
    this.#files.writes.push(begun);
    await this.#turns();
    if (!write.isSynced) this.#files.writes.splice(this.#files.writes.indexOf(begun), 1, write);
    this.#files.apply(write);
  }

  async #turns(): Promise<void> {
    if (this.#turnsMax === 0) return;
    for (let left = this.#random.below(this.#turnsMax + 1); left > 0; left--) {
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }
}

/** Returns a record with the checksum that `record.ts` gives it. */
function signed(key: string, value: Buffer): Buffer {
  const copy = Buffer.from(value);
  copy.writeUInt32BE(0, 0);
  copy.writeUInt32BE(Bun.hash.crc32(copy, Bun.hash.crc32(key)), 0);
  return copy;
}

function iteratorOver<T>(items: readonly T[], turns: () => Promise<void>) {
  let at = 0;
  return {
    async nextv(count: number): Promise<T[]> {
      await turns();
      const next = items.slice(at, at + count);
      at += next.length;
      return next;
    },
    async all(): Promise<readonly T[]> {
      await turns();
      return items;
    },
    async close(): Promise<void> {},
  };
}
