/** Those that began between two questions. */
interface Epoch {
  open: number;
  ended: (() => void) | undefined;
}

/** Tells when everything that has begun up to now has ended, whatever begins meanwhile. */
export class InFlight {
  #epoch: Epoch = { open: 0, ended: undefined };
  /** Ends when the creations of earlier epochs have ended. */
  #earlier: Promise<void> = Promise.resolve();
  #opening: Promise<void> | undefined;

  /** Nothing more begins before `opening` resolves; where it rejects, what would begin fails in the same way. */
  holdUntil(opening: Promise<void>): void {
    this.#opening = opening;
    opening.then(
      () => (this.#opening = undefined),
      () => {},
    );
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#opening !== undefined) await this.#opening;
    const epoch = this.#epoch;
    epoch.open++;
    try {
      return await work();
    } finally {
      if (--epoch.open === 0) epoch.ended?.();
    }
  }

  /** Resolves when all that runs now has ended, well or not. */
  ended(): Promise<void> {
    const epoch = this.#epoch;
    if (epoch.open > 0) {
      const ending = Promise.withResolvers<void>();
      epoch.ended = ending.resolve;
      this.#epoch = { open: 0, ended: undefined };
      const earlier = this.#earlier;
      this.#earlier = ending.promise.then(() => earlier);
    }
    return this.#earlier;
  }
}
