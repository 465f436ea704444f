import type { Entry } from "../../core/entry.ts";
import type { Index } from "../../core/ids.ts";
import type { Command } from "./register-machine.ts";

/** The state machine that the log of a simulated cluster feeds. */
export interface Machine {
  readonly index: Index;
  /** Equal wherever the same log was applied. */
  readonly hash: number;
  /** Unaffected by what this one goes on to apply. */
  clone(): Machine;
  /** @returns the command, if it had an effect: no command may have one twice */
  apply(entry: Entry): Command | undefined;
}
