import { randomBytes } from "node:crypto";
import { RaftError } from "../../../raft/index.ts";
import type { Clock } from "../../process/clock.ts";
import type { MemberRecord } from "../cluster.ts";
import type { BatchId, Sessions } from "../sessions.ts";
import { type ApplyResult, type Command, StoreUnavailableError } from "../store.ts";
import { type Decision, encodeCommands, encodeDecision } from "./log-entry.ts";
import type { Effect, Outcome } from "./replicated-state.ts";

/** What is not applied by then has an unknown outcome: longer than any election takes. */
const proposalTimeoutMs = 10_000;
const firstRetryMs = 20;
const retryMsMax = 500;

/** A batch that waits for its entry to be applied here. */
export interface Proposal {
  readonly id: BatchId;
  /** As they were proposed; undefined for a decision. */
  readonly commands: readonly Command[] | undefined;
  readonly bytes: Uint8Array;
  readonly deadlineMs: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: StoreUnavailableError) => void;
  /** An attempt was made whose end is not known: it may still happen. */
  mayHappen: boolean;
  /** Attempts that have not ended. */
  attempts: number;
  retryMs: number;
  retry: Disposable | undefined;
}

export interface ProposerOptions {
  /** Appends to the log; resolves when it is applied here. @throws RaftError */
  readonly propose: (bytes: Uint8Array) => Promise<unknown>;
  /** Newest index that is applied here. */
  readonly appliedIndex: () => number;
  readonly clock: Clock;
  /** As no other proposer ever has it; random by default. */
  readonly origin?: string;
}

/**
 * Brings batches into the log until they are applied, each once: the same bytes are proposed again when a leader was lost,
 * and the replicated state admits the first that arrives. Who waits is answered when it is applied here, never by guess.
 */
export class Proposer {
  readonly #options: ProposerOptions;
  readonly #origin: string;
  /** By sequence, oldest first. */
  readonly #proposals = new Map<number, Proposal>();
  #sequence = 0;
  #stopped: StoreUnavailableError | undefined;

  constructor(options: ProposerOptions) {
    this.#options = options;
    this.#origin = options.origin ?? randomBytes(12).toString("base64url");
  }

  /** One result per command. @throws StoreUnavailableError */
  async commands(commands: readonly Command[]): Promise<readonly ApplyResult[]> {
    return (await this.#start((id) => encodeCommands(id, commands), commands)) as readonly ApplyResult[];
  }

  /** For a member its record with its number. @throws StoreUnavailableError */
  async decide(decision: Decision): Promise<MemberRecord | undefined> {
    return (await this.#start((id) => encodeDecision(id, decision), undefined)) as MemberRecord | undefined;
  }

  /** Of a batch that was proposed here and still waits. */
  find({ origin, sequence }: BatchId): Proposal | undefined {
    return origin === this.#origin ? this.#proposals.get(sequence) : undefined;
  }

  /** An entry was applied here: whoever waits for it is answered. */
  applied({ id, admitted, outcome }: Effect): void {
    const proposal = this.find(id);
    if (proposal === undefined) return;
    this.#end(proposal);
    if (admitted) proposal.resolve(outcome);
    // Nothing of it was applied while it waited, or it would not wait.
    else proposal.reject(new StoreUnavailableError("the write came too late", "notDone"));
  }

  /** Whom to ask has changed: what may be lost with the old leader is proposed to the new one at once. */
  leaderChanged(): void {
    for (const proposal of this.#proposals.values()) this.#attempt(proposal);
  }

  /** The state was replaced by a later one. What it holds of our batches is done, and with what result is not known. */
  stateReplaced(sessions: Sessions): void {
    for (const proposal of this.#proposals.values()) {
      if (!sessions.has(proposal.id) || !this.#end(proposal)) continue;
      proposal.reject(new StoreUnavailableError("the write was done while this replica fell behind"));
    }
  }

  /** Nothing will be applied here any more. */
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
    // What was applied here is settled in the same turn, admitted or not.
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
