import type { Key } from "../../api/entry.ts";
import { SetMap } from "../../process/set-map.ts";

/** The pods that name each claim and template, so that a change of one leads to its pods only. */
export class ClaimUsers {
  readonly #needed = new Map<Key, readonly Key[]>();
  readonly #pods = new SetMap<Key, Key>();

  /** Records the keys of everything that a pod names. */
  set(pod: Key, needed: readonly Key[]): void {
    this.delete(pod);
    if (needed.length === 0) return;
    this.#needed.set(pod, needed);
    for (const key of needed) this.#pods.add(key, pod);
  }

  delete(pod: Key): void {
    for (const key of this.#needed.get(pod) ?? []) this.#pods.delete(key, pod);
    this.#needed.delete(pod);
  }

  /** Returns the keys of the pods that name a claim or template. */
  of(key: Key): ReadonlySet<Key> {
    return this.#pods.get(key);
  }
}
