import type { Entry } from "./core/entry.ts";
import type { Index } from "./core/ids.ts";

/** A consistent image of the state, readable while more entries are applied. */
export interface StateImage {
  /** Index up to which every entry has taken effect. */
  readonly index: Index;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Releases the image. Called once, when the chunks are read or no longer needed. */
  release(): void;
}

/**
 * The application behind the log. The driver calls one method at a time and waits for it; only the chunks of an image are
 * read concurrently. A method that throws stops the member, because its state is uncertain. If a method does not return
 * for an election timeout and no entry is applied, a leader steps down: another member's state machine may work.
 */
export interface StateMachine<Result> {
  /** Returns the last entry whose effects are durable, or 0. Called at the start. */
  durableIndex(): Index;
  /**
   * Applies committed entries in the order of the log, without gaps. Each comes exactly once, except that entries after
   * the durable index come again after a crash. Entries that are not `normal` only advance the index.
   * @returns one result per entry; results of entries that were proposed here reach their proposers
   */
  apply(entries: readonly Entry[]): readonly Result[] | Promise<readonly Result[]>;
  /**
   * Makes the state durable and returns the index up to which it is. Called when the log grows and needs compaction.
   */
  checkpoint(): Index | Promise<Index>;
  snapshot(): StateImage | Promise<StateImage>;
  /**
   * Replaces the state with an image, durably. If the chunks throw, or the process ends first, the old state and
   * `durableIndex` must remain.
   */
  restore(index: Index, chunks: AsyncIterable<Uint8Array>): Promise<void>;
}
