/**
 * Decides whether the mutating plugins run a second time. Each attempt to write has its own; plugins use it as the key
 * of notes that they keep between the rounds.
 */
export class Reinvocation {
  #isRepeat = false;
  #isWanted = false;

  /** True in the second round. */
  get isRepeat(): boolean {
    return this.#isRepeat;
  }

  /** Requests a second round, because the object has changed since earlier plugins saw it. */
  request(): void {
    this.#isWanted = true;
  }

  /** Begins the second round if it was requested. There is never a third. */
  repeat(): boolean {
    if (this.#isRepeat || !this.#isWanted) return false;
    this.#isRepeat = true;
    return true;
  }
}
