/** A seed that once found an error. It runs with every change, even if the simulator has changed since. */
export interface RegressionSeed {
  readonly seed: number;
  readonly steps: number;
  readonly found: string;
}

export const regressionSeeds: readonly RegressionSeed[] = [
  { seed: 25, steps: 5_000, found: "a full window whose appends were all lost was never tried again" },
  { seed: 27, steps: 5_000, found: "the same, with a follower that was restarted" },
  {
    seed: 80,
    steps: 20_000,
    found: "the checker blamed a leader whose votes came late for what a later term committed",
  },
  { seed: 283, steps: 20_000, found: "the same, after a pause" },
  {
    seed: 3_004_027,
    steps: 20_000,
    found: "a membership that its leader had lost came with a message on its way into the last phase",
  },
  { seed: 354, steps: 20_000, found: "the core of the last phase lacked the only voter of a logged membership" },
];
