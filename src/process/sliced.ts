import type { Eventual } from "./eventual.ts";
import { TurnSlice } from "./turn-slice.ts";

/** Runs a computation to its end, without regard to other requests. */
export function atOnce<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs a computation that yields now and then: at once if it is short, otherwise in slices over several turns. */
export function runSliced<T>(steps: Generator<void, T>): Eventual<T> {
  const slice = new TurnSlice();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const passed = slice.pass();
    if (passed !== undefined) return passed.then(() => runSliced(steps));
  }
}
