import type { RegressionSeed } from "../regression-seeds.ts";

export const controllerRegressionSeeds: readonly RegressionSeed[] = [
  {
    seed: 166,
    steps: 25_000,
    found: "a claim was created on one replica while the leader removed its namespace on another",
  },
  {
    seed: 129,
    steps: 25_000,
    found: "a pod that had been admitted earlier came into a namespace that was gone; premises of writes refuse it",
  },
];
