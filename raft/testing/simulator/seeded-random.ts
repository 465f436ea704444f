import type { RandomSource } from "../../core/options.ts";

/** The sfc32 generator: small, fast and the same on every machine. The first outputs of a seed are discarded. */
export class SeededRandom implements RandomSource {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = seed | 0;
    this.#b = Math.floor(seed / 2 ** 32) | 0;
    this.#c = 0x9e3779b9 | 0;
    for (let round = 0; round < 15; round++) this.next();
  }

  /** Returns an unsigned 32-bit number. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  below(limit: number): number {
    return this.next() % limit;
  }

  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  /** Returns true in `permille` of 1000 cases. */
  chance(permille: number): boolean {
    return permille > 0 && this.next() % 1000 < permille;
  }

  pick<T>(among: readonly T[]): T {
    return among[this.below(among.length)] as T;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const rest = [...items];
    return items.map(() => rest.splice(this.below(rest.length), 1)[0] as T);
  }
}
