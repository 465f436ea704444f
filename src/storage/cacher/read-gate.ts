/** Lets at most `max` readers in at a time, in the order in which they came. */
export class ReadGate {
  readonly #max: number;
  #inside = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.#inside >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside++;
    try {
      return await read();
    } finally {
      // The place passes straight on to the next one.
      const next = this.#waiting.shift();
      if (next === undefined) this.#inside--;
      else next();
    }
  }
}
