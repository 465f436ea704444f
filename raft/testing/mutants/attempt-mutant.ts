import { join } from "node:path";
import type { Mutant } from "./mutant.ts";
import { mutantVariable } from "./mutant.ts";

export interface Attempt {
  readonly from: number;
  readonly seeds: number;
  readonly steps: number;
}

/** A mutant that makes the core run in circles is noticed, too. */
const attemptMsMax = 120_000;

/** @returns who noticed, one line each as `script <name>: …` or `seed <number>: …`; nothing when nobody did. */
export async function attemptMutant({ name }: Mutant, { from, seeds, steps }: Attempt): Promise<string[]> {
  const program = ["--preload", join(import.meta.dir, "preload.ts"), join(import.meta.dir, "attempt.ts")];
  const child = Bun.spawn([process.execPath, ...program, `${from}`, `${seeds}`, `${steps}`], {
    env: { ...Bun.env, [mutantVariable]: name },
    stdout: "pipe",
    stderr: "pipe",
    timeout: attemptMsMax,
  });
  const [answer, complaint] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const code = await child.exited;
  if (child.signalCode !== null) return ["script that does not end"];
  if (code !== 0) throw new Error(`mutant "${name}" does not start: ${complaint}`);
  return answer.split("\n").filter((line) => line !== "");
}
