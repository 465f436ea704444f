import type { RegressionSeed } from "../regression-seeds.ts";

export const controllerRegressionSeeds: readonly RegressionSeed[] = [];
