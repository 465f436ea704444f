import { must } from "../simulator/violation.ts";
import list from "./mutants.json";

/** One rule of the core, or of the driver, broken on purpose; some test must notice. */
export interface Mutant {
  readonly name: string;
  /** In `raft/core`, or in `raft` with `../` before it. */
  readonly file: string;
  /** What stands there, once. */
  readonly from: string;
  readonly to: string;
  /** The first that notice: `script <name>`, and `seed <number>` when the simulator does too; `test <name>` of the driver. */
  readonly killedBy: readonly string[];
}

export const mutants: readonly Mutant[] = list;

/** Names the mutant to load in a process; the core itself knows nothing of mutants. */
export const mutantVariable = "RAFT_MUTANT";

export function isOfDriver({ file }: Mutant): boolean {
  return file.startsWith("../");
}

/** @throws Violation when the text that it changes is not there exactly once: the core has moved on. */
export function mutate(text: string, { name, from, to }: Mutant): string {
  must(text.split(from).length === 2, () => `mutant "${name}" does not fit the core any more`);
  return text.replace(from, () => to);
}
