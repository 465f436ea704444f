/** Sets by key. A key exists while its set has values. */
export class SetMap<K, V> {
  readonly #sets = new Map<K, Set<V>>();

  add(key: K, value: V): void {
    const values = this.#sets.get(key);
    if (values === undefined) this.#sets.set(key, new Set([value]));
    else values.add(value);
  }

  delete(key: K, value: V): void {
    const values = this.#sets.get(key);
    values?.delete(value);
    if (values?.size === 0) this.#sets.delete(key);
  }

  /** Returns the values of a key, in the order in which they were added. */
  get(key: K): ReadonlySet<V> {
    return this.#sets.get(key) ?? (none as ReadonlySet<V>);
  }

  keys(): Iterable<K> {
    return this.#sets.keys();
  }
}

const none: ReadonlySet<unknown> = new Set();
