/** A seed that once found an error. It runs with every change, even if the simulation has changed since. */
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
  {
    seed: 41_389,
    steps: 12_000,
    found:
      "a batch came into the log after its proposer had given it up; the truth did not know that it is refused then",
  },
  {
    seed: 909_545,
    steps: 12_000,
    found:
      "a promotion that one voter had, and a leader lost after it had reached only the learner, left nobody to elect",
  },
  {
    seed: 2_012_050,
    steps: 12_000,
    found:
      "the only voter answered a read by itself, behind a learner that was removed and still applied what came to it",
  },
];
