import { assert } from "./assert.ts";
import type { Index, MemberId, Term } from "./ids.ts";
import { noIndex } from "./ids.ts";
import type { HardState, WriteMark } from "./ready.ts";
import type { SnapshotMeta } from "./snapshot.ts";

interface OpenWrite {
  readonly mark: WriteMark;
  readonly hardState: HardState;
  readonly snapshot: SnapshotMeta | undefined;
  /** Last index of the current log that this write makes durable. It is below the mark if the tail was replaced. */
  reaches: Index;
}

/**
 * The core's view of its own disk: the writes that were handed out, and the writes that are known to be durable.
 *
 *      durable ≤ handed ≤ last           everything up to `durable` is on disk in its current form
 *
 * The same entry can be cut and come back while writes are in progress. An acknowledgement is therefore matched with its
 * write by number: an index and a term alone could name an entry that a later write removes again.
 */
export class Disk {
  #handed: Index;
  #durable: Index;
  #handedState: HardState;
  #durableState: HardState;
  #snapshot: SnapshotMeta | undefined;
  #sequence = 0;
  #open: OpenWrite[] = [];

  constructor(hardState: HardState, lastIndex: Index) {
    this.#handedState = hardState;
    this.#durableState = hardState;
    this.#handed = lastIndex;
    this.#durable = lastIndex;
  }

  /** Index up to which the log was handed out for writing. */
  get handed(): Index {
    return this.#handed;
  }

  get durable(): Index {
    return this.#durable;
  }

  get handedState(): HardState {
    return this.#handedState;
  }

  /** Snapshot that the next write installs. */
  get snapshot(): SnapshotMeta | undefined {
    return this.#snapshot;
  }

  /** Returns the mark of the next write if it takes the log to its end (`term`, `index`). */
  nextMark(term: Term, index: Index): WriteMark {
    return { sequence: this.#sequence + 1, term, index };
  }

  /** Reports whether (`term`, `vote`) would survive a crash. */
  isDurable(term: Term, vote: MemberId): boolean {
    return this.#durableState.term === term && this.#durableState.vote === vote;
  }

  isTermDurable(term: Term): boolean {
    return this.#durableState.term === term;
  }

  /** Records that the log changed from `first` on. */
  cutFrom(first: Index): void {
    const kept = (first - 1) as Index;
    this.#handed = Math.min(this.#handed, kept) as Index;
    this.#durable = Math.min(this.#durable, kept) as Index;
    for (const write of this.#open) write.reaches = Math.min(write.reaches, kept) as Index;
  }

  /** Replaces the whole log by a snapshot. Nothing is durable until it is installed. */
  replaceBy(snapshot: SnapshotMeta): void {
    this.cutFrom((noIndex + 1) as Index);
    this.#handed = snapshot.index;
    this.#snapshot = snapshot;
  }

  handOut(mark: WriteMark, hardState: HardState): void {
    this.#sequence = mark.sequence;
    this.#handed = mark.index;
    this.#handedState = hardState;
    this.#open.push({ mark, hardState, snapshot: this.#snapshot, reaches: mark.index });
    this.#snapshot = undefined;
  }

  /**
   * Records that a write is durable. @returns the snapshot that is now installed, if one of the writes contained one
   */
  persisted(mark: WriteMark): SnapshotMeta | undefined {
    assert(mark.sequence <= this.#sequence, () => `write ${mark.sequence} was never handed out`);
    let installed: SnapshotMeta | undefined;
    while (this.#open[0] !== undefined && this.#open[0].mark.sequence <= mark.sequence) {
      const write = this.#open.shift() as OpenWrite;
      assertSame(write.mark, mark);
      this.#durable = Math.max(this.#durable, write.reaches) as Index;
      this.#durableState = write.hardState;
      installed = write.snapshot ?? installed;
    }
    return installed;
  }
}

function assertSame(handedOut: WriteMark, acknowledged: WriteMark): void {
  if (handedOut.sequence !== acknowledged.sequence) return;
  const same = handedOut.term === acknowledged.term && handedOut.index === acknowledged.index;
  assert(same, () => `write ${handedOut.sequence} was acknowledged with another mark`);
}
