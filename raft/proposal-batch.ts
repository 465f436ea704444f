import type { Waiter } from "./waiter.ts";

/**
 * So long may a proposal wait for others while the disk is busy: longer than a sync of a fast disk takes, and not so long
 * that a slow one holds up the other members.
 */
const waitMsMax = 1;
/** Nor does it wait when so much has come together that more gains nothing. */
const bytesEnough = 256 << 10;

interface Proposal<T> {
  readonly data: Uint8Array;
  readonly waiter: Waiter<T>;
}

/** Proposals that have not been put to the core yet. */
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

  /** How much longer it is worth to wait for more. */
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
