import type { Index, MemberId, RequestId } from "./ids.ts";

/** A member that wants to read, and its name for the read. */
export interface Reader {
  readonly member: MemberId;
  readonly id: RequestId;
}

interface Round {
  readonly round: number;
  /** Committed when the round began, so after each of its reads arrived. */
  readonly index: Index;
  readonly readers: readonly Reader[];
}

export interface ConfirmedReads {
  readonly index: Index;
  readonly readers: readonly Reader[];
}

/**
 * Reads at the leader (thesis §6.4). One waits until a round of heartbeats begins, is fixed to what is committed then,
 * and is confirmed when a quorum has answered that round or a later one: at that moment nobody else had been elected
 * when the read arrived. All reads that wait when a round begins share it.
 */
export class ReadQueue {
  #round = 0;
  #waiting: Reader[] = [];
  #rounds: Round[] = [];
  #size = 0;

  /** The newest round that began. */
  get round(): number {
    return this.#round;
  }

  get size(): number {
    return this.#size;
  }

  /** Reads wait, and no round is under way that they could wait for. */
  get wantsRound(): boolean {
    return this.#waiting.length > 0 && this.#rounds.length === 0;
  }

  add(reader: Reader): void {
    this.#waiting.push(reader);
    this.#size++;
  }

  /** @param commit absent while the leader does not know yet what is committed: then reads go on waiting. */
  beginRound(commit: Index | undefined): number {
    this.#round++;
    if (commit !== undefined && this.#waiting.length > 0) {
      this.#rounds.push({ round: this.#round, index: commit, readers: this.#waiting });
      this.#waiting = [];
    }
    return this.#round;
  }

  /** A quorum has answered `round`. */
  confirm(round: number): ConfirmedReads[] {
    const open = this.#rounds.findIndex((other) => other.round > round);
    const confirmed = this.#rounds.splice(0, open === -1 ? this.#rounds.length : open);
    for (const { readers } of confirmed) this.#size -= readers.length;
    return confirmed;
  }

  /** Everything that is not confirmed, and now will not be. */
  drain(): Reader[] {
    const readers = [...this.#rounds.flatMap((round) => round.readers), ...this.#waiting];
    this.#rounds = [];
    this.#waiting = [];
    this.#size = 0;
    return readers;
  }
}
