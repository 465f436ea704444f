import { join } from "node:path";
import { parseArgs } from "node:util";
import { attemptMutant } from "./attempt-mutant.ts";
import { mutants } from "./mutant.ts";

/**
 * Runs the tests with every mutant and reports which test noticed it: `bun raft/testing/mutants/run.ts [--only NAME]
 * [--seeds N] [--steps M] [--missing] [--note]`. Exits with 1 when a mutant survives. `--note` records the tests in
 * mutants.json.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    seeds: { type: "string", default: "200" },
    steps: { type: "string", default: "20000" },
    note: { type: "boolean", default: false },
    /** Only the mutants without a recorded test. */
    missing: { type: "boolean", default: false },
  },
});

const chosen = mutants.filter(({ name, killedBy }) => {
  return (values.only === undefined || name === values.only) && !(values.missing && killedBy.length > 0);
});
const killers = new Map<string, readonly string[]>();

for (const mutant of chosen) {
  const answers = await attemptMutant(mutant, { from: 1, seeds: Number(values.seeds), steps: Number(values.steps) });
  killers.set(
    mutant.name,
    answers.map((answer) => answer.split(":")[0] ?? ""),
  );
  await Bun.write(Bun.stdout, `${answers.length === 0 ? "LIVES " : "killed"} ${mutant.name}\n`);
  for (const answer of answers) await Bun.write(Bun.stdout, `         ${answer}\n`);
  if (values.note) await note();
}

const living = [...killers.values()].filter((by) => by.length === 0);
const bySeed = [...killers.values()].filter((by) => by.some((killer) => killer.startsWith("seed")));
await Bun.write(Bun.stdout, `${chosen.length} mutants, ${living.length} live, ${bySeed.length} killed by a seed\n`);
process.exit(living.length === 0 ? 0 : 1);

async function note(): Promise<void> {
  const noted = mutants.map((mutant) => ({ ...mutant, killedBy: killers.get(mutant.name) ?? mutant.killedBy }));
  await Bun.write(join(import.meta.dir, "mutants.json"), `${JSON.stringify(noted, null, 2)}\n`);
}
