/** The treatment of frames in one direction between two ports; all 0 for a good link. */
export interface LinkRule {
  /** Whether all frames are dropped; 1 for yes. */
  readonly cut: number;
  readonly lossPermille: number;
  readonly delayUs: number;
  /** Maximum of a random additional delay, which makes frames overtake each other. */
  readonly jitterUs: number;
  readonly duplicatePermille: number;
  /** Probability that one bit of the frame is changed. */
  readonly corruptPermille: number;
  /** Bandwidth; 0 for unlimited. */
  readonly bytesPerMs: number;
}

const fields = [
  "cut",
  "lossPermille",
  "delayUs",
  "jitterUs",
  "duplicatePermille",
  "corruptPermille",
  "bytesPerMs",
] as const satisfies (keyof LinkRule)[];

const counters = ["passed", "lost"] as const;
const width = fields.length + counters.length;

/**
 * The table of the switch's thread in shared memory: a word that stops it, then for each direction the fields of its rule
 * and two counters.
 */
export class LinkRules {
  readonly memory: SharedArrayBuffer;
  readonly #words: Int32Array;
  readonly #ports: number;

  constructor(ports: number, memory = new SharedArrayBuffer(4 * (1 + ports * ports * width))) {
    this.memory = memory;
    this.#words = new Int32Array(memory);
    this.#ports = ports;
  }

  get isStopped(): boolean {
    return Atomics.load(this.#words, 0) === 1;
  }

  stop(): void {
    Atomics.store(this.#words, 0, 1);
  }

  set(from: number, to: number, change: Partial<LinkRule>): void {
    for (const [place, field] of fields.entries()) {
      const value = change[field];
      if (value !== undefined) Atomics.store(this.#words, this.#at(from, to) + place, value);
    }
  }

  clear(from: number, to: number): void {
    for (const place of fields.keys()) Atomics.store(this.#words, this.#at(from, to) + place, 0);
  }

  read(from: number, to: number, field: keyof LinkRule): number {
    return Atomics.load(this.#words, this.#at(from, to) + fields.indexOf(field));
  }

  count(from: number, to: number, counter: (typeof counters)[number]): void {
    Atomics.add(this.#words, this.#at(from, to) + fields.length + counters.indexOf(counter), 1);
  }

  counted(counter: (typeof counters)[number]): number {
    let sum = 0;
    for (let from = 0; from < this.#ports; from++) {
      for (let to = 0; to < this.#ports; to++) {
        sum += Atomics.load(this.#words, this.#at(from, to) + fields.length + counters.indexOf(counter));
      }
    }
    return sum;
  }

  #at(from: number, to: number): number {
    return 1 + (from * this.#ports + to) * width;
  }
}
