/** Runs tasks one after the other. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(task: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => {});
    return result;
  }

  /** Resolves when all tasks added so far have ended. */
  async idle(): Promise<void> {
    await this.#last;
  }
}
