import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Mutant } from "./mutant.ts";
import { mutantVariable, mutants } from "./mutant.ts";

/**
 * `bun raft/testing/mutants/run.ts [--only NAME] [--seeds N] [--steps M] [--note]`: puts every mutant through the tests
 * and says who killed it; exits 1 when one lives. `--note` writes the killers down in mutants.json.
 */
const { values } = parseArgs({
  options: {
    only: { type: "string" },
    seeds: { type: "string", default: "500" },
    steps: { type: "string", default: "4000" },
    note: { type: "boolean", default: false },
  },
});

/** A mutant that makes the core run in circles is noticed, too. */
const attemptMsMax = 60_000;
const folder = import.meta.dir;
const chosen = mutants.filter(({ name }) => values.only === undefined || name === values.only);
const killers = new Map<string, string>();

for (const mutant of chosen) {
  const answer = await attempt(mutant);
  const [killer = "", detail = ""] = answer.split("\n");
  killers.set(mutant.name, killer);
  await Bun.write(Bun.stdout, `${killer === "" ? "LIVES " : "killed"} ${mutant.name}: ${killer} (${detail})\n`);
}

const living = [...killers].filter(([, killer]) => killer === "");
await Bun.write(Bun.stdout, `${chosen.length} mutants, ${living.length} live\n`);
if (values.note) await note();
process.exit(living.length === 0 ? 0 : 1);

async function attempt({ name }: Mutant): Promise<string> {
  const child = Bun.spawn(
    [
      process.execPath,
      "--preload",
      join(folder, "preload.ts"),
      join(folder, "attempt.ts"),
      "1",
      values.seeds,
      values.steps,
    ],
    { env: { ...Bun.env, [mutantVariable]: name }, stdout: "pipe", stderr: "pipe", timeout: attemptMsMax },
  );
  const [answer, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const code = await child.exited;
  if (child.signalCode !== null) return "does not end\n";
  return code === 0 ? answer : `does not start\n${complaint.slice(0, 200)}`;
}

async function note(): Promise<void> {
  const noted = mutants.map((mutant) => ({ ...mutant, killedBy: killers.get(mutant.name) ?? mutant.killedBy }));
  await Bun.write(join(folder, "mutants.json"), `${JSON.stringify(noted, null, 2)}\n`);
}
