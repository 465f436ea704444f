import { must } from "../simulator/violation.ts";
import list from "./mutants.json";

/** A deliberately broken rule of the core or the driver. Some test must notice it. */
export interface Mutant {
  readonly name: string;
  /** File in `raft/core`, or in `raft` with `../` before it. */
  readonly file: string;
  /** Original text, which occurs once. */
  readonly from: string;
  readonly to: string;
  /**
   * First tests that notice: `script <name>`, and `seed <number>` when the simulator does too; `test <name>` of the
   * driver.
   */
  readonly killedBy: readonly string[];
}

export const mutants: readonly Mutant[] = list;

/** Environment variable that names the mutant to load in a process. The core itself does not know about mutants. */
export const mutantVariable = "RAFT_MUTANT";

export function isOfDriver({ file }: Mutant): boolean {
  return file.startsWith("../");
}

/**
 * Applies a mutant. @throws Violation unless the text that it changes occurs exactly once, because the core has
 * changed.
 */
export function mutate(text: string, { name, from, to }: Mutant): string {
  must(text.split(from).length === 2, () => `mutant "${name}" no longer fits the core`);
  return text.replace(from, () => to);
}
