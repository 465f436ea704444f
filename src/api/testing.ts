/** Limit of the steps of a computation in a test. */
const stepsMax = 1_000_000;

export interface Finished<T> {
  readonly result: T;
  /** Number of turns that the computation offers to others. */
  readonly yields: number;
}

/** Runs a computation that yields now and then to its end. */
export function runToEnd<T>(steps: Generator<void, T>): Finished<T> {
  for (let yields = 0; yields < stepsMax; yields++) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, yields };
  }
  throw new Error("the computation does not end");
}
