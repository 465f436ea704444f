import { describe, test } from "bun:test";

/** Timeout of a batch on a busy machine. */
export const patienceMs = 120_000;
const batch = 20;

export interface SeedTests<Report> {
  /** Program that runs single seeds, relative to the root of the repository. */
  readonly program: string;
  readonly simulate: (seed: number, steps: number) => Report;
  /** Number of seeds, starting at 1. */
  readonly seeds: number;
  readonly steps: number;
  /** Seeds that once found an error. */
  readonly regressions: readonly { readonly seed: number; readonly steps: number; readonly found: string }[];
}

/**
 * Tests that every seed runs to its end. Returns a function that runs one seed and reports after a failure how to
 * repeat it.
 */
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
      "a fresh seed",
      () => {
        const first = Math.floor(Date.now() / 1000);
        runAll(first, first + batch - 1);
      },
      patienceMs,
    );

    test.each([...regressions])("seed $seed: $found", ({ seed, steps }) => void run(seed, steps), patienceMs);
  });
  return run;
}
