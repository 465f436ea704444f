import { nextTurn } from "../api/turn.ts";

/** Time that the workers of one controller take together before other requests get a turn. */
const sliceMs = 5;

/** Keeps a controller with much to do from delaying requests: its workers share the time of a turn. */
export class TurnSlice {
  #endMs = 0;

  /** Resolves at once while there is time left, otherwise in a later turn. */
  async turn(): Promise<void> {
    if (performance.now() < this.#endMs) return;
    await nextTurn();
    this.#endMs = performance.now() + sliceMs;
  }
}
