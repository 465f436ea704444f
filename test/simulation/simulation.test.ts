import { describe, expect, test } from "bun:test";
import { type ClusterReport, ClusterSimulation } from "./cluster-simulation.ts";
import { type Mutation, mutations } from "./mutation.ts";
import { regressionSeeds } from "./regression-seeds.ts";

const seedsPerRun = 80;
const batch = 20;
const stepsPerSeed = 12_000;
const mutantSeedsMax = 100;
/** A machine that is busy with other things takes its time. */
const patienceMs = 120_000;

describe("replicas under a seed tell no client anything wrong, and come to rest", () => {
  const batches = Array.from({ length: seedsPerRun / batch }, (_, at) => [1 + at * batch, (at + 1) * batch] as const);
  test.each(batches)(
    "seeds %d to %d",
    (from, to) => {
      const before = process.cpuUsage();
      let events = 0;
      for (let seed = from; seed <= to; seed++) events += run(seed, stepsPerSeed).events;
      const { user, system } = process.cpuUsage(before);
      console.log(`${Math.round((events / (user + system)) * 1_000_000)} events a second of CPU`);
    },
    patienceMs,
  );

  test(
    "a seed of the moment",
    () => {
      const first = Math.floor(Date.now() / 1000);
      for (let seed = first; seed < first + batch; seed++) run(seed, stepsPerSeed);
    },
    patienceMs,
  );

  test.each(regressionSeeds)(
    "seed $seed, where $found",
    ({ seed, steps }) => {
      run(seed, steps);
    },
    patienceMs,
  );
});

test.each([3, 14, 159])("seed %d takes the same course every time", (seed) => {
  expect(run(seed, 5_000)).toEqual(run(seed, 5_000));
});

test(
  "seeds take different courses, and meet what they are meant to meet",
  () => {
    const reports = Array.from({ length: 40 }, (_, at) => run(1_000 + at, stepsPerSeed));
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
    expect(sum(({ watchesExpired }) => watchesExpired)).toBeGreaterThan(5);
    expect(sum(({ crashes }) => crashes)).toBeGreaterThan(200);
    expect(sum(({ snapshots }) => snapshots)).toBeGreaterThan(10);
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
      new ClusterSimulation(seed, mutation).run(stepsPerSeed);
    } catch {
      return seed;
    }
  }
  return undefined;
}

function run(seed: number, steps: number): ClusterReport {
  try {
    return new ClusterSimulation(seed).run(steps);
  } catch (error) {
    const replay = `replay: bun test/simulation/run.ts --from ${seed} --seeds 1 --steps ${steps}`;
    throw new Error(`seed ${seed} fails; ${replay}`, { cause: error });
  }
}
