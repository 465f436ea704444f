import type { Entry } from "../../core/entry.ts";
import type { Index } from "../../core/ids.ts";
import type { Command } from "./register-machine.ts";

/** The state machine that the log of a simulated cluster feeds. */
export interface Machine {
  readonly index: Index;
  /** Equal wherever the same log was applied. */
  readonly hash: number;
  /** Returns a copy, unaffected by later commands. */
  clone(): Machine;
  /** @returns the command, if it had an effect. No command may have an effect twice */
  apply(entry: Entry): Command | undefined;
}
