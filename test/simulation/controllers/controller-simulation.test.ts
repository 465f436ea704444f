import { expect, test } from "bun:test";
import { patienceMs, testSeeds } from "../../../raft/testing/simulator/seed-tests.ts";
import { type ControllerReport, ControllerSimulation } from "./controller-simulation.ts";
import { controllerRegressionSeeds } from "./regression-seeds.ts";

const steps = 25_000;

const run = testSeeds("controllers under a seed do nothing twice, and finish their work", {
  program: "test/simulation/run.ts --controllers",
  simulate: (seed, steps) => new ControllerSimulation(seed).run(steps),
  seeds: 20,
  steps,
  regressions: controllerRegressionSeeds,
});

test(
  "a seed takes the same course every time",
  () => {
    expect(run(8, steps)).toEqual(run(8, steps));
  },
  patienceMs,
);

test(
  "seeds cover the intended situations",
  () => {
    const reports = Array.from({ length: 6 }, (_, at) => run(1_000 + at, steps));
    const sum = (count: (report: ControllerReport) => number) => reports.reduce((all, one) => all + count(one), 0);
    expect(sum(({ leads }) => leads)).toBeGreaterThan(reports.length);
    for (const name of ["crashes", "deletions", "claims", "nodeParts", "evictions"] as const) {
      expect([name, sum((report) => report[name]) > 0]).toEqual([name, true]);
    }
  },
  patienceMs,
);
