import type { Entry } from "./core/entry.ts";
import type { Index } from "./core/ids.ts";

/** A consistent image of the state, readable while entries go on being applied. */
export interface StateImage {
  /** It has the effects of every entry up to this one. */
  readonly index: Index;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Called once, when the chunks are read or will not be read any more. */
  release(): void;
}

/**
 * What the log is replicated for. The driver calls one method at a time and waits for it; only the chunks of an image
 * are read meanwhile. A method that throws ends the member: its state is in doubt. When nothing was applied for an election
 * timeout because a method has not come back, a leader steps down: somebody else's state machine may do better.
 */
export interface StateMachine<Result> {
  /** The last entry whose effects are durable, 0 when there is none. Asked at the start. */
  durableIndex(): Index;
  /**
   * Applies committed entries in the order of the log, without gap; each exactly once, except that after a crash those
   * behind the durable index come again. Entries that are not `normal` have no effect and only count.
   * @returns one result per entry; those of entries that were proposed here reach the proposer
   */
  apply(entries: readonly Entry[]): readonly Result[] | Promise<readonly Result[]>;
  /** The log grows and wants to be compacted: makes the state durable and says up to which entry it is. */
  checkpoint(): Index | Promise<Index>;
  snapshot(): StateImage | Promise<StateImage>;
  /**
   * Puts an image in the place of the state, durably. When the chunks throw, or the process ends before, the state must
   * be what it was, and `durableIndex` as well.
   */
  restore(index: Index, chunks: AsyncIterable<Uint8Array>): Promise<void>;
}
