import type { MemberId } from "./ids.ts";

/**
 * A new member comes in as a learner, catches up, and is then promoted (thesis §4.2.1); nobody becomes a voter at once.
 * - `demote`: a voter becomes a learner.
 * - `remove`: a voter or learner leaves for good.
 */
export type ConfOperation = "addLearner" | "promote" | "demote" | "remove";

export interface ConfStep {
  readonly operation: ConfOperation;
  readonly member: MemberId;
}

/** All steps take effect together; when they touch more than one voter, by way of a joint configuration (§4.3). */
export interface ConfChange {
  readonly steps: readonly ConfStep[];
  /** Carried in the entry for the application: the address of a new member, say. */
  readonly context: Uint8Array;
}
