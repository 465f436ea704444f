/** A seed that once showed something: run again with every change, however the simulation has moved on since. */
export interface RegressionSeed {
  readonly seed: number;
  readonly steps: number;
  readonly found: string;
}

export const regressionSeeds: readonly RegressionSeed[] = [
  {
    seed: 15,
    steps: 12_000,
    found: "the only voter answered a read by itself, behind a learner that had applied more of what it had committed",
  },
];
