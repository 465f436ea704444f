import { expect, test } from "bun:test";
import { seed as firstSeed } from "../../../raft/testing/seed.ts";
import { patienceMs } from "../../../raft/testing/simulator/seed-tests.ts";
import { type DatabaseReport, DatabaseSimulation } from "./database-simulation.ts";
import { databaseMutations } from "./simulated-database.ts";

/** Known seeds, which alone cover the intended situations, and as many new ones. */
const seeds = [1, firstSeed].flatMap((from) => Array.from({ length: 20 }, (_, at) => from + at));
const steps = 80;
const mutantSeedsMax = 60;

async function run(seed: number): Promise<DatabaseReport> {
  const simulation = new DatabaseSimulation(seed);
  try {
    return await simulation.run(steps);
  } catch (error) {
    const replay = `bun test/simulation/run.ts --database --from ${seed} --seeds 1`;
    throw new Error(`${simulation.lastEvents().join("\n")}\nreplay: ${replay}`, { cause: error });
  }
}

test(
  `a database under power cuts, kills and failing writes keeps the state and its history (seeds from ${firstSeed})`,
  async () => {
    const reports: DatabaseReport[] = [];
    for (const seed of seeds) reports.push(await run(seed));
    const sum = (count: (report: DatabaseReport) => number) => reports.reduce((all, one) => all + count(one), 0);
    expect(sum(({ powerCuts }) => powerCuts)).toBeGreaterThan(50);
    expect(sum(({ kills }) => kills)).toBeGreaterThan(10);
    expect(sum(({ failedWrites }) => failedWrites)).toBeGreaterThan(10);
    expect(sum(({ flippedBits }) => flippedBits)).toBeGreaterThan(20);
    expect(sum(({ noticedBits }) => noticedBits)).toBeGreaterThan(10);
    expect(sum(({ checkpoints }) => checkpoints)).toBeGreaterThan(50);
    expect(sum(({ images }) => images)).toBeGreaterThan(50);
    expect(sum(({ restores }) => restores)).toBeGreaterThan(0);
  },
  patienceMs,
);

/** Seeds that found a fault. */
const regressionSeeds = [1173000009, 1173000292, 1173000505];

test.each(regressionSeeds)("seed %d", async (seed) => void (await run(seed)), patienceMs);

test.each(databaseMutations)(
  "%s is found out",
  async (mutation) => {
    const noticed = async (): Promise<number | undefined> => {
      for (let seed = 1; seed <= mutantSeedsMax; seed++) {
        const passed = await new DatabaseSimulation(seed, mutation).run(steps).catch(() => undefined);
        if (passed === undefined) return seed;
      }
      return undefined;
    };
    expect(await noticed()).toBeDefined();
  },
  patienceMs,
);
