import { nextTurn } from "../../api/turn.ts";

/** Time that evaluations may take before other requests have a turn; the expression that exceeds it is finished. */
const turnMsMax = 5;

/** The turn of one request that evaluates many expressions. */
export class Turn {
  #startedMs = performance.now();

  /** Returns undefined while the request may go on at once. */
  pass(): Promise<void> | undefined {
    if (performance.now() - this.#startedMs <= turnMsMax) return undefined;
    return nextTurn().then(() => {
      this.#startedMs = performance.now();
    });
  }
}
