import type { Eventual } from "./eventual.ts";
import { nextTurn } from "./turn.ts";

/** Time that one slice of a long computation takes before other requests get a turn. */
const sliceMs = 5;

/** Runs a computation to its end, without regard to other requests. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs a computation that yields now and then: at once if it is short, otherwise in slices over several turns. */
export function runSliced<T>(steps: Generator<void, T>): Eventual<T> {
  const endMs = performance.now() + sliceMs;
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (performance.now() >= endMs) return nextTurn().then(() => runSliced(steps));
  }
}
