import { checkScript, readScripts } from "../script/script-file.ts";
import { Simulation } from "../simulator/simulation.ts";

/**
 * What every mutant is put through, in a process of its own: the scripts, then seeds. Prints who noticed first, and what
 * it saw; nothing when nobody did. `bun --preload ./preload.ts attempt.ts <first seed> <seeds> <steps>`
 */
const [from = 1, seeds = 500, steps = 4000] = process.argv.slice(2).map(Number);

await Bun.write(Bun.stdout, firstToNotice() ?? "");

function firstToNotice(): string | undefined {
  for (const script of readScripts()) {
    const complaint = complaintOf(() => checkScript(script));
    if (complaint !== undefined) return `script ${script.name}\n${complaint}`;
  }
  for (let seed = from; seed < from + seeds; seed++) {
    const complaint = complaintOf(() => new Simulation(seed).run(steps));
    if (complaint !== undefined) return `seed ${seed}\n${complaint}`;
  }
  return undefined;
}

function complaintOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
