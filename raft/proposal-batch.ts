import type { Waiter } from "./waiter.ts";

/**
 * Maximum time that a proposal waits for others while the disk is busy: longer than a sync of a fast disk, and short
 * enough that a slow disk does not delay the other members.
 */
const waitMsMax = 1;
/** Batch size from which waiting for more proposals gains nothing. */
const bytesEnough = 256 << 10;

interface Proposal<T> {
  readonly data: Uint8Array;
  readonly waiter: Waiter<T>;
}

/** Proposals that have not been given to the core yet. */
export class ProposalBatch<T> {
  #proposals: Proposal<T>[] = [];
  #bytes = 0;
  #firstAtMs = 0;

  get size(): number {
    return this.#proposals.length;
  }

  add(proposal: Proposal<T>, nowMs: number): void {
    if (this.#proposals.length === 0) this.#firstAtMs = nowMs;
    this.#proposals.push(proposal);
    this.#bytes += proposal.data.length;
  }

  /** Returns how much longer to wait for more proposals. */
  waitMs(nowMs: number): number {
    return this.#bytes >= bytesEnough ? 0 : Math.max(0, this.#firstAtMs + waitMsMax - nowMs);
  }

  takeAll(): readonly Proposal<T>[] {
    const all = this.#proposals;
    this.#proposals = [];
    this.#bytes = 0;
    return all;
  }
}
