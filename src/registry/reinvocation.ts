/**
 * Decides whether the mutating plugins run a second time. One attempt to write has one; plugins that keep notes between
 * the rounds keep them by it.
 */
export class Reinvocation {
  #isRepeat = false;
  #isWanted = false;

  /** True in the second round. */
  get isRepeat(): boolean {
    return this.#isRepeat;
  }

  /** Asks for a second round, because the object is no longer what earlier plugins saw. */
  request(): void {
    this.#isWanted = true;
  }

  /** Begins the second round if it was asked for. There is never a third. */
  repeat(): boolean {
    if (this.#isRepeat || !this.#isWanted) return false;
    this.#isRepeat = true;
    return true;
  }
}
