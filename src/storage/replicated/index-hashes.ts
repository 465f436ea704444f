import type { StateHash } from "../state-hash.ts";

/** Far more entries than lie between a state and the word of another replica on it. */
const remembered = 8_192;

/** What the state was at the newest indexes of the log, to be compared with what it was elsewhere. */
export class IndexHashes {
  readonly #hashes = new Float64Array(remembered);
  readonly #indexes = new Float64Array(remembered);

  note(index: number, hash: StateHash): void {
    this.#indexes[index % remembered] = index;
    this.#hashes[index % remembered] = hash;
  }

  /** Undefined when it is not remembered. */
  at(index: number): StateHash | undefined {
    return index > 0 && this.#indexes[index % remembered] === index ? this.#hashes[index % remembered] : undefined;
  }
}
