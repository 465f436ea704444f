import { nextTurn } from "../api/turn.ts";

/** Total time of the workers of one controller before other requests get a turn. */
const sliceMs = 5;

/** Keeps a busy controller from delaying requests: its workers share the time of a turn. */
export class TurnSlice {
  #endMs = 0;

  /** Resolves at once while there is time left, otherwise in a later turn. */
  async turn(): Promise<void> {
    if (performance.now() < this.#endMs) return;
    await nextTurn();
    this.#endMs = performance.now() + sliceMs;
  }
}
