import type { StateHash } from "../state-hash.ts";

/** Number of remembered indexes: far more than the entries between a state and another replica's report on it. */
const remembered = 8_192;

/** Hashes of the state at the newest log indexes, for comparison with other replicas. */
export class IndexHashes {
  readonly #hashes = new Float64Array(remembered);
  readonly #indexes = new Float64Array(remembered);

  note(index: number, hash: StateHash): void {
    this.#indexes[index % remembered] = index;
    this.#hashes[index % remembered] = hash;
  }

  /** Returns the hash at an index, or undefined if it is not remembered. */
  at(index: number): StateHash | undefined {
    return index > 0 && this.#indexes[index % remembered] === index ? this.#hashes[index % remembered] : undefined;
  }
}
