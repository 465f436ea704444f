import { randomBytes } from "node:crypto";
import { RaftError } from "../../../raft/index.ts";
import type { Clock } from "../../process/clock.ts";
import type { MemberRecord } from "../cluster.ts";
import type { BatchId, Sessions } from "../sessions.ts";
import { type ApplyResult, type Command, StoreUnavailableError } from "../store.ts";
import { type Decision, encodeCommands, encodeDecision } from "./log-entry.ts";
import type { Effect, Outcome } from "./replicated-state.ts";

/** Time after which the outcome of an unapplied proposal is unknown; longer than any election. */
const proposalTimeoutMs = 10_000;
const firstRetryMs = 20;
const retryMsMax = 500;

/** A batch whose entry has not been applied here yet. */
export interface Proposal {
  readonly id: BatchId;
  /** The proposed commands; undefined for a decision. */
  readonly commands: readonly Command[] | undefined;
  readonly bytes: Uint8Array;
  readonly deadlineMs: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: StoreUnavailableError) => void;
  /** Whether an attempt ended without a known result. The proposal may then still be applied. */
  mayHappen: boolean;
  /** Number of attempts that have not ended. */
  attempts: number;
  retryMs: number;
  retry: Disposable | undefined;
}

export interface ProposerOptions {
  /** Appends to the log, and resolves when the entry is applied here. @throws RaftError */
  readonly propose: (bytes: Uint8Array) => Promise<unknown>;
  /** Returns the newest index that is applied here. */
  readonly appliedIndex: () => number;
  readonly clock: Clock;
  /** Name that no other proposer ever has; random by default. */
  readonly origin?: string;
}

/**
 * Proposes batches until they are applied, each exactly once. If a leader is lost, the same bytes are proposed again, and
 * the replicated state admits only the first copy that arrives. Callers are answered when the batch is applied here,
 * never by a guess.
 */
export class Proposer {
  readonly #options: ProposerOptions;
  readonly #origin: string;
  /** Pending proposals by sequence, oldest first. */
  readonly #proposals = new Map<number, Proposal>();
  #sequence = 0;
  #stopped: StoreUnavailableError | undefined;

  constructor(options: ProposerOptions) {
    this.#options = options;
    this.#origin = options.origin ?? randomBytes(12).toString("base64url");
  }

  /** Proposes commands and resolves with one result each. @throws StoreUnavailableError */
  async commands(commands: readonly Command[]): Promise<readonly ApplyResult[]> {
    return (await this.#start((id) => encodeCommands(id, commands), commands)) as readonly ApplyResult[];
  }

  /** Proposes a decision. For a member, resolves with its record and number. @throws StoreUnavailableError */
  async decide(decision: Decision): Promise<MemberRecord | undefined> {
    return (await this.#start((id) => encodeDecision(id, decision), undefined)) as MemberRecord | undefined;
  }

  /** Returns the pending proposal of a batch that was proposed here. */
  find({ origin, sequence }: BatchId): Proposal | undefined {
    return origin === this.#origin ? this.#proposals.get(sequence) : undefined;
  }

  /** Answers the caller of an entry that was applied here. */
  applied({ id, admitted, outcome }: Effect): void {
    const proposal = this.find(id);
    if (proposal === undefined) return;
    this.#end(proposal);
    if (admitted) proposal.resolve(outcome);
    // No copy of it was applied while it waited, or its caller would have an answer.
    else proposal.reject(new StoreUnavailableError("the write came too late", "notDone"));
  }

  /** Proposes every pending batch to the new leader at once, because the old one may have lost it. */
  leaderChanged(): void {
    for (const proposal of this.#proposals.values()) this.#attempt(proposal);
  }

  /** Handles the replacement of the state by a later one. Batches of ours in it are done, with an unknown result. */
  stateReplaced(sessions: Sessions): void {
    for (const proposal of this.#proposals.values()) {
      if (!sessions.has(proposal.id) || !this.#end(proposal)) continue;
      proposal.reject(new StoreUnavailableError("the write was done while this replica fell behind"));
    }
  }

  /** Rejects all proposals. No more entries will be applied here. */
  stop(error: StoreUnavailableError): void {
    this.#stopped = error;
    for (const proposal of this.#proposals.values()) {
      if (this.#end(proposal)) proposal.reject(error);
    }
  }

  #start(encode: (id: BatchId) => Uint8Array, commands: readonly Command[] | undefined): Promise<Outcome> {
    if (this.#stopped !== undefined) return Promise.reject(this.#stopped);
    const sequence = ++this.#sequence;
    const [floor = sequence] = this.#proposals.keys();
    const id = { origin: this.#origin, sequence, floor, basis: this.#options.appliedIndex() };
    return new Promise((resolve, reject) => {
      const deadlineMs = this.#options.clock.steadyMs() + proposalTimeoutMs;
      const state = { mayHappen: false, attempts: 0, retryMs: firstRetryMs, retry: undefined };
      const proposal = { id, commands, bytes: encode(id), deadlineMs, resolve, reject, ...state };
      this.#proposals.set(sequence, proposal);
      this.#attempt(proposal);
    });
  }

  #attempt(proposal: Proposal): void {
    proposal.retry?.[Symbol.dispose]();
    proposal.retry = undefined;
    proposal.attempts++;
    this.#options.propose(proposal.bytes).then(
      () => this.#attemptEnded(proposal, undefined),
      (error: unknown) => this.#attemptEnded(proposal, error),
    );
  }

  #attemptEnded(proposal: Proposal, error: unknown): void {
    proposal.attempts--;
    if (!this.#proposals.has(proposal.id.sequence)) return;
    // Batches applied here are settled in the same turn, whether or not they were admitted.
    const isCertain = error instanceof RaftError && error.code !== "unknown" && error.code !== "stopped";
    if (!isCertain) proposal.mayHappen = true;
    if (proposal.attempts > 0 || proposal.retry !== undefined) return;
    const { clock } = this.#options;
    if (clock.steadyMs() + proposal.retryMs > proposal.deadlineMs) return this.#giveUp(proposal, error);
    proposal.retry = clock.after(proposal.retryMs, () => this.#attempt(proposal));
    proposal.retryMs = Math.min(retryMsMax, proposal.retryMs * 2);
  }

  #giveUp(proposal: Proposal, error: unknown): void {
    if (!this.#end(proposal)) return;
    const why = error instanceof Error ? error.message : "it was not applied in time";
    proposal.reject(
      proposal.mayHappen
        ? new StoreUnavailableError(`whether the write was done is not known: ${why}`)
        : new StoreUnavailableError(`the write was not done: ${why}`, "notDone"),
    );
  }

  #end(proposal: Proposal): boolean {
    proposal.retry?.[Symbol.dispose]();
    return this.#proposals.delete(proposal.id.sequence);
  }
}
