/** Work that has to wait until something else is ready. */
export class Gate {
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
    return work();
  }
}
