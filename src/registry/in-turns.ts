import { nextTurn } from "../api/turn.ts";

/** The work of one turn; more would keep others waiting. */
const turnMsMax = 5;

/** Takes the steps of a long piece of work, a few in each turn of the event loop. */
export async function inTurns<T>(steps: Generator<void, T>): Promise<T> {
  let startMs = performance.now();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() - startMs < turnMsMax) continue;
    await nextTurn();
    startMs = performance.now();
  }
}
