import type { Key } from "../../api/entry.ts";

const none: ReadonlySet<Key> = new Set();

/** The pods that name each claim and template, so that a change of one leads to its pods only. */
export class ClaimUsers {
  readonly #needed = new Map<Key, readonly Key[]>();
  readonly #pods = new Map<Key, Set<Key>>();

  /** Records the keys of everything that a pod names. */
  set(pod: Key, needed: readonly Key[]): void {
    this.delete(pod);
    if (needed.length === 0) return;
    this.#needed.set(pod, needed);
    for (const key of needed) {
      const pods = this.#pods.get(key);
      if (pods === undefined) this.#pods.set(key, new Set([pod]));
      else pods.add(pod);
    }
  }

  delete(pod: Key): void {
    for (const key of this.#needed.get(pod) ?? []) {
      const pods = this.#pods.get(key);
      pods?.delete(pod);
      if (pods?.size === 0) this.#pods.delete(key);
    }
    this.#needed.delete(pod);
  }

  /** Returns the keys of the pods that name a claim or template. */
  of(key: Key): ReadonlySet<Key> {
    return this.#pods.get(key) ?? none;
  }
}
