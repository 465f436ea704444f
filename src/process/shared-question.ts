/** A question whose answer several callers can share, because it is asked after all of them have come. */
export class SharedQuestion<Answer> {
  readonly #question: () => Promise<Answer>;
  #isAsking = false;
  /** The answer to the question that is asked next, if somebody waits for it. */
  #next: PromiseWithResolvers<Answer> | undefined;

  constructor(question: () => Promise<Answer>) {
    this.#question = question;
  }

  /** Returns the answer to a question that is asked after this call. */
  ask(): Promise<Answer> {
    if (this.#next === undefined) {
      this.#next = Promise.withResolvers();
      // Callers of this turn share the question, too.
      if (!this.#isAsking) queueMicrotask(() => void this.#run());
    }
    return this.#next.promise;
  }

  async #run(): Promise<void> {
    this.#isAsking = true;
    for (let asked = this.#next; asked !== undefined; asked = this.#next) {
      this.#next = undefined;
      try {
        asked.resolve(await this.#question());
      } catch (error) {
        asked.reject(error);
      }
    }
    this.#isAsking = false;
  }
}
