import type { Index, MemberId, RequestId } from "./ids.ts";

/** The member that wants to read, and its name for the read. */
export interface Reader {
  readonly member: MemberId;
  readonly id: RequestId;
}

interface Round {
  readonly round: number;
  /** Commit index when the round began, after each of its reads arrived. */
  readonly index: Index;
  readonly readers: readonly Reader[];
}

export interface ConfirmedReads {
  readonly index: Index;
  readonly readers: readonly Reader[];
}

/**
 * Reads at the leader (thesis §6.4). A read waits until a round of heartbeats begins, which fixes it to the commit
 * index of that moment. It is confirmed when a quorum has answered that round or a later one: no other leader had been
 * elected when the read arrived. All reads that wait when a round begins share it.
 */
export class ReadQueue {
  #round = 0;
  #waiting: Reader[] = [];
  #rounds: Round[] = [];
  #size = 0;

  /** Number of the newest round. */
  get round(): number {
    return this.#round;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether reads wait and no round is in progress. */
  get wantsRound(): boolean {
    return this.#waiting.length > 0 && this.#rounds.length === 0;
  }

  add(reader: Reader): void {
    this.#waiting.push(reader);
    this.#size++;
  }

  /** Begins a round. @param commit absent while the leader does not know the commit index; reads keep waiting then */
  beginRound(commit: Index | undefined): number {
    this.#round++;
    if (commit !== undefined && this.#waiting.length > 0) {
      this.#rounds.push({ round: this.#round, index: commit, readers: this.#waiting });
      this.#waiting = [];
    }
    return this.#round;
  }

  /** Confirms the reads of `round` and earlier ones after a quorum has answered. */
  confirm(round: number): ConfirmedReads[] {
    const open = this.#rounds.findIndex((other) => other.round > round);
    const confirmed = this.#rounds.splice(0, open === -1 ? this.#rounds.length : open);
    for (const { readers } of confirmed) this.#size -= readers.length;
    return confirmed;
  }

  /** Removes and returns the unconfirmed reads, which cannot be confirmed any more. */
  drain(): Reader[] {
    const readers = [...this.#rounds.flatMap((round) => round.readers), ...this.#waiting];
    this.#rounds = [];
    this.#waiting = [];
    this.#size = 0;
    return readers;
  }
}
