import { join } from "node:path";
import type { Mutant } from "./mutant.ts";
import { isOfDriver, mutantVariable } from "./mutant.ts";

export interface Attempt {
  readonly from: number;
  readonly seeds: number;
  readonly steps: number;
}

/** Time limit of an attempt, for mutants that make the core loop. */
const attemptMsMax = 120_000;

const preload = ["--preload", join(import.meta.dir, "preload.ts")];
const driverTests = [join(import.meta.dir, "../../node.test.ts"), join(import.meta.dir, "../../node-trouble.test.ts")];

/**
 * Tests a mutant. @returns one line for each test that noticed: `script <name>: …`, `seed <number>: …`, or, of the
 * driver, `test <name>`
 */
export function attemptMutant(mutant: Mutant, attempt: Attempt): Promise<string[]> {
  return isOfDriver(mutant) ? attemptDriver(mutant) : attemptCore(mutant, attempt);
}

async function attemptDriver({ name }: Mutant): Promise<string[]> {
  const child = Bun.spawn([process.execPath, "test", "--timeout", "20000", ...preload, ...driverTests], {
    env: { ...Bun.env, [mutantVariable]: name },
    stdout: "ignore",
    stderr: "pipe",
    timeout: attemptMsMax,
  });
  const report = await child.stderr.text();
  await child.exited;
  const failed = [...report.matchAll(/^\(fail\) (.*?)( \[[\d.]+ms\])?$/gm)].map(([, test]) => `test ${test}`);
  return child.signalCode !== null && failed.length === 0 ? ["test that does not end"] : failed.slice(0, 1);
}

async function attemptCore({ name }: Mutant, { from, seeds, steps }: Attempt): Promise<string[]> {
  const program = [...preload, join(import.meta.dir, "attempt.ts")];
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
