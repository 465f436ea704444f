import { checkScript, readScripts } from "../script/script-file.ts";
import { Simulation } from "../simulator/simulation.ts";

/**
 * Tests a mutant in a process of its own: the scripts, then seeds. Prints one line for the first test of each kind that
 * noticed: `bun --preload ./preload.ts attempt.ts <first seed> <seeds> <steps>`.
 */
const [from = 1, seeds = 500, steps = 4000] = process.argv.slice(2).map(Number);

await Bun.write(Bun.stdout, [firstScript(), firstSeed()].filter((line) => line !== undefined).join("\n"));

function firstScript(): string | undefined {
  for (const script of readScripts()) {
    const complaint = complaintOf(() => checkScript(script));
    if (complaint !== undefined) return `script ${script.name}: ${complaint}`;
  }
  return undefined;
}

function firstSeed(): string | undefined {
  for (let seed = from; seed < from + seeds; seed++) {
    const complaint = complaintOf(() => new Simulation(seed).run(steps));
    if (complaint !== undefined) return `seed ${seed}: ${complaint}`;
  }
  return undefined;
}

/** Returns the first line of an error, or undefined without one. */
function complaintOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error instanceof Error ? error.message : String(error)).split("\n")[0];
  }
}
