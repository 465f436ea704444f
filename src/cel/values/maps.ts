import { type Result, Uint, type Value, ValueMap } from "./value.ts";

type Entry = readonly [key: Value, value: Result];
const signedMax = 2n ** 63n - 1n;
const unsignedMax = 2n ** 64n - 1n;

/** Entries by key. Keys of different types are different, so unsigned numbers are kept apart from strings. */
class EntryTable {
  readonly #plain = new Map<Value, Entry>();
  /** Made for the first unsigned number: nearly all keys are texts. */
  #unsigned: Map<bigint, Entry> | undefined;

  get size(): number {
    return this.#plain.size + (this.#unsigned?.size ?? 0);
  }

  set(key: Value, value: Result): void {
    if (!(key instanceof Uint)) this.#plain.set(key, [key, value]);
    else {
      this.#unsigned ??= new Map();
      this.#unsigned.set(key.value, [key, value]);
    }
  }

  delete(key: Value): void {
    if (key instanceof Uint) this.#unsigned?.delete(key.value);
    else this.#plain.delete(key);
  }

  /** Finds a key, or a number of another type that equals it. */
  find(key: Value): Result | undefined {
    const exact = key instanceof Uint ? this.#unsigned?.get(key.value) : this.#plain.get(key);
    if (exact !== undefined) return exact[1];
    if (typeof key === "bigint") return key < 0n ? undefined : this.#unsigned?.get(key)?.[1];
    if (key instanceof Uint) return key.value > signedMax ? undefined : this.#plain.get(key.value)?.[1];
    if (typeof key !== "number" || !Number.isInteger(key)) return undefined;
    const whole = BigInt(key);
    return (this.#plain.get(whole) ??
      (whole >= 0n && whole <= unsignedMax ? this.#unsigned?.get(whole) : undefined))?.[1];
  }

  entries(): Iterable<Entry> {
    return this.#unsigned === undefined ? this.#plain.values() : this.#allEntries(this.#unsigned);
  }

  *#allEntries(unsigned: ReadonlyMap<bigint, Entry>): Generator<Entry> {
    yield* this.#plain.values();
    yield* unsigned.values();
  }
}

class TableMap extends ValueMap {
  readonly #table: EntryTable;

  constructor(table: EntryTable) {
    super();
    this.#table = table;
  }

  get size(): number {
    return this.#table.size;
  }

  find(key: Value): Result | undefined {
    return this.#table.find(key);
  }

  *keys(): Generator<Value> {
    for (const [key] of this.#table.entries()) yield key;
  }

  entries(): Iterable<Entry> {
    return this.#table.entries();
  }
}

/** A map of computed values. */
export class EntryMap extends TableMap {
  constructor(entries: Iterable<Entry>) {
    const table = new EntryTable();
    for (const [key, value] of entries) table.set(key, value);
    super(table);
  }
}

/** A map that is being built, by a literal or a loop. */
export class GrowingMap extends TableMap {
  readonly #table: EntryTable;

  constructor() {
    const table = new EntryTable();
    super(table);
    this.#table = table;
  }

  set(key: Value, value: Value): void {
    this.#table.set(key, value);
  }

  delete(key: Value): void {
    this.#table.delete(key);
  }

  /** Returns what was gathered; nothing is added after that. */
  finish(): ValueMap {
    return new TableMap(this.#table);
  }
}

export const emptyMap = new EntryMap([]);

export function entriesOf(map: ValueMap): Iterable<Entry> {
  return map instanceof TableMap ? map.entries() : foundEntries(map);
}

function* foundEntries(map: ValueMap): Generator<Entry> {
  for (const key of map.keys()) {
    const value = map.find(key);
    if (value !== undefined) yield [key, value];
  }
}
