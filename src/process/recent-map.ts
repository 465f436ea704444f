/** A map of limited size. A new entry replaces the least recently set one. */
export class RecentMap<Key, Value> {
  readonly #sizeMax: number;
  readonly #values = new Map<Key, Value>();

  constructor(sizeMax: number) {
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#values.size;
  }

  get(key: Key): Value | undefined {
    return this.#values.get(key);
  }

  /** Returns the values, the least recently set first. */
  values(): IterableIterator<Value> {
    return this.#values.values();
  }

  set(key: Key, value: Value): void {
    // A map keeps the order of insertion, so the first key is the oldest.
    this.#values.delete(key);
    this.#values.set(key, value);
    if (this.#values.size <= this.#sizeMax) return;
    for (const oldest of this.#values.keys()) {
      this.#values.delete(oldest);
      return;
    }
  }
}
