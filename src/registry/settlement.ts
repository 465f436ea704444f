import { StatusError } from "../api/status.ts";

/** `unknown`: the store could not say whether the write was applied, so nothing that belongs to it may be given back. */
export type WriteOutcome = "stored" | "notStored" | "unknown";

export type SettleListener = (outcome: WriteOutcome) => Promise<void> | void;

/**
 * One attempt to write an object, for those that have reserved something for it elsewhere (addresses, ports, quota):
 * each hears once how it ended, before the writer does.
 */
export class Settlement {
  #listeners: SettleListener[] = [];

  readonly add = (listener: SettleListener): void => {
    this.#listeners.push(listener);
  };

  /** Runs the attempt. `isStored` tells a result that changed the store from one that did not (dry run, lost race). */
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
        // The write has ended all the same. What could not be given back is found by whoever repairs reservations.
      }
    }
  }
}
