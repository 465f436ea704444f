import type { Entry } from "../../core/entry.ts";
import type { Index } from "../../core/ids.ts";
import type { Command } from "./register-machine.ts";
import type { SeededRandom } from "./seeded-random.ts";

/** The state machine that the log of a simulated cluster feeds. */
export interface Machine {
  readonly index: Index;
  /** Equal wherever the same log was applied. */
  readonly hash: number;
  /** Returns a copy, unaffected by later commands. */
  clone(): Machine;
  /** @returns the command, if it had an effect. No command may have an effect twice */
  apply(entry: Entry): Command | undefined;
  /**
   * Whether the disk has damaged a part of it that a start does not read. Other members refuse a snapshot of it.
   */
  readonly isDamaged?: boolean;
  /** Returns what a start makes of it after its disk has damaged it; undefined if the start refuses it. */
  damaged?(random: SeededRandom): Machine | undefined;
}
