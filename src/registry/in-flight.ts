/** Creations that began between two calls of `ended`. */
interface Epoch {
  open: number;
  ended: (() => void) | undefined;
}

/** Waits for the work that has begun so far, but not for work that begins later. */
export class InFlight {
  #epoch: Epoch = { open: 0, ended: undefined };
  /** Resolves when the creations of earlier epochs have ended. */
  #earlier: Promise<void> = Promise.resolve();
  #opening: Promise<void> | undefined;

  /** Delays everything that begins from now on until `opening` resolves; if it rejects, so do they. */
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

  /** Resolves when everything that is running now has ended, successfully or not. */
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
