import { describe, test } from "bun:test";

/** A machine that is busy with other things takes its time. */
export const patienceMs = 120_000;
const batch = 20;

export interface SeedTests<Report> {
  /** What runs single seeds, from the root of the repository. */
  readonly program: string;
  readonly simulate: (seed: number, steps: number) => Report;
  /** From 1. */
  readonly seeds: number;
  readonly steps: number;
  /** That once found something. */
  readonly regressions: readonly { readonly seed: number; readonly steps: number; readonly found: string }[];
}

/** Every seed must run to its end. Gives back what runs one of them, and says at a failure how that is repeated. */
export function testSeeds<Report>(title: string, tests: SeedTests<Report>) {
  const { program, simulate, seeds, steps, regressions } = tests;
  const batches = Array.from({ length: seeds / batch }, (_, at) => [1 + at * batch, (at + 1) * batch] as const);

  function run(seed: number, steps: number): Report {
    try {
      return simulate(seed, steps);
    } catch (error) {
      const replay = `replay: bun ${program} --from ${seed} --seeds 1 --steps ${steps}`;
      throw new Error(`seed ${seed} fails; ${replay}`, { cause: error });
    }
  }

  function runAll(from: number, to: number): void {
    for (let seed = from; seed <= to; seed++) run(seed, steps);
  }

  describe(title, () => {
    test.each(batches)("seeds %d to %d", runAll, patienceMs);

    test(
      "a seed of the moment",
      () => {
        const first = Math.floor(Date.now() / 1000);
        runAll(first, first + batch - 1);
      },
      patienceMs,
    );

    test.each([...regressions])("seed $seed, where $found", ({ seed, steps }) => void run(seed, steps), patienceMs);
  });
  return run;
}
