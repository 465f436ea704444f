import { nextTurn } from "./turn.ts";

/** Time that a long piece of work takes before everything else that is due gets a turn. */
const sliceMs = 5;

/** The time of one piece of work in a turn of the event loop. Several workers can share it. */
export class TurnSlice {
  #endMs = performance.now() + sliceMs;

  /** Returns undefined while there is time left, otherwise a promise that resolves in a later turn. */
  pass(): Promise<void> | undefined {
    if (performance.now() < this.#endMs) return undefined;
    return nextTurn().then(() => {
      this.#endMs = performance.now() + sliceMs;
    });
  }
}
