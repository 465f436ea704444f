import { expect, test } from "bun:test";
import { patienceMs, testSeeds } from "../../raft/testing/simulator/seed-tests.ts";
import { type ClusterReport, ClusterSimulation } from "./cluster-simulation.ts";
import { type Mutation, mutations } from "./mutation.ts";
import { regressionSeeds } from "./regression-seeds.ts";

const steps = 12_000;
const mutantSeedsMax = 100;

const run = testSeeds("replicas under a seed tell no client anything wrong, and come to rest", {
  program: "test/simulation/run.ts",
  simulate: (seed, steps) => new ClusterSimulation(seed).run(steps),
  seeds: 80,
  steps,
  regressions: regressionSeeds,
});

test.each([3, 14, 159])("seed %d takes the same course every time", (seed) => {
  expect(run(seed, 5_000)).toEqual(run(seed, 5_000));
});

test("a seed takes the same course on a slow machine", () => {
  const course = run(3, 5_000);
  const { now } = performance;
  let ms = 0;
  performance.now = () => (ms += 10);
  try {
    expect(run(3, 5_000)).toEqual(course);
  } finally {
    performance.now = now;
  }
});

test(
  "seeds take different courses and cover the intended situations",
  () => {
    const reports = Array.from({ length: 40 }, (_, at) => run(1_000 + at, steps));
    expect(new Set(reports.map(({ trace }) => trace)).size).toBe(reports.length);
    const sum = (count: (report: ClusterReport) => number) => reports.reduce((all, one) => all + count(one), 0);
    expect(sum(({ acknowledged }) => acknowledged)).toBeGreaterThan(500);
    expect(sum(({ rejected }) => rejected)).toBeGreaterThan(500);
    expect(sum(({ unknown }) => unknown)).toBeGreaterThan(100);
    expect(sum(({ notDone }) => notDone)).toBeGreaterThan(50);
    expect(sum(({ checkedReads }) => checkedReads)).toBeGreaterThan(1_000);
    expect(sum(({ lists }) => lists)).toBeGreaterThan(300);
    expect(sum(({ watchEvents }) => watchEvents)).toBeGreaterThan(1_000);
    expect(sum(({ watchResumes }) => watchResumes)).toBeGreaterThan(500);
    expect(sum(({ watchRewinds }) => watchRewinds)).toBeGreaterThan(100);
    expect(sum(({ watchBookmarks }) => watchBookmarks)).toBeGreaterThan(100);
    expect(sum(({ watchesExpired }) => watchesExpired)).toBeGreaterThan(5);
    expect(sum(({ crashes }) => crashes)).toBeGreaterThan(200);
    expect(sum(({ snapshots }) => snapshots)).toBeGreaterThan(10);
    expect(sum(({ damages }) => damages)).toBeGreaterThan(5);
    expect(sum(({ damagedReads }) => damagedReads)).toBeGreaterThan(0);
    expect(sum(({ servingStarts = 0 }) => servingStarts)).toBeGreaterThan(100);
    expect(sum(({ servingKills = 0 }) => servingKills)).toBeGreaterThan(50);
    expect(sum(({ servingPauses = 0 }) => servingPauses)).toBeGreaterThan(50);
  },
  patienceMs,
);

test.each(mutations)(
  "%s is found out",
  (mutation) => {
    expect(firstSeedThatNotices(mutation)).toBeDefined();
  },
  patienceMs,
);

function firstSeedThatNotices(mutation: Mutation): number | undefined {
  for (let seed = 1; seed <= mutantSeedsMax; seed++) {
    try {
      new ClusterSimulation(seed, mutation).run(steps);
    } catch {
      return seed;
    }
  }
  return undefined;
}
