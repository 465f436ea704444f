import { expect, test } from "bun:test";
import { patienceMs, testSeeds } from "../../../raft/testing/simulator/seed-tests.ts";
import { type ControllerReport, ControllerSimulation } from "./controller-simulation.ts";
import { controllerRegressionSeeds } from "./regression-seeds.ts";

const steps = 25_000;

const run = testSeeds("controllers under a seed do nothing twice, and finish their work", {
  program: "test/simulation/run.ts --controllers",
  simulate: (seed, steps) => new ControllerSimulation(seed).run(steps),
  seeds: 10,
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
    const reports = Array.from({ length: 8 }, (_, at) => run(1_000 + at, steps));
    const sum = (count: (report: ControllerReport) => number) => reports.reduce((all, one) => all + count(one), 0);
    expect(sum(({ leaders }) => leaders)).toBeGreaterThan(2 * reports.length);
    expect(sum(({ crashes }) => crashes)).toBeGreaterThan(20);
    expect(sum(({ deletions }) => deletions)).toBeGreaterThan(50);
    expect(sum(({ claims }) => claims)).toBeGreaterThan(5);
    expect(sum(({ nodeParts }) => nodeParts)).toBeGreaterThan(10);
    expect(sum(({ evictions }) => evictions)).toBeGreaterThan(10);
  },
  patienceMs,
);
