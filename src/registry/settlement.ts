import { StatusError } from "../api/status.ts";

/** Outcome of a write. `unknown`: the store could not tell whether it was applied, so its reservations must be kept. */
export type WriteOutcome = "stored" | "notStored" | "unknown";

export type SettleListener = (outcome: WriteOutcome) => Promise<void> | void;

/**
 * One attempt to write an object, for parts that have reserved something for it elsewhere (addresses, ports, quota). Each
 * learns the outcome once, before the writer does.
 */
export class Settlement {
  #listeners: SettleListener[] = [];

  readonly add = (listener: SettleListener): void => {
    this.#listeners.push(listener);
  };

  /**
   * Runs the attempt. `isStored` distinguishes a result that changed the store from one that did not (dry run, lost
   * race).
   */
  async run<Result>(attempt: () => Promise<Result>, isStored: (result: Result) => boolean): Promise<Result> {
    let result: Result;
    try {
      result = await attempt();
    } catch (error) {
      await this.#settle(error instanceof StatusError ? "notStored" : "unknown");
      throw error;
    }
    await this.#settle(isStored(result) ? "stored" : "notStored");
    return result;
  }

  async #settle(outcome: WriteOutcome): Promise<void> {
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) {
      try {
        await listener(outcome);
      } catch {
        // The write has ended all the same. Reservations that could not be released are found by their repair.
      }
    }
  }
}
