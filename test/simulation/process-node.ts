import type { Status } from "../../raft/core/consensus-node.ts";
import type { Entry } from "../../raft/core/entry.ts";
import { type Index, type MemberId, noTerm, type RequestId, type Term } from "../../raft/core/ids.ts";
import type { ProposalOutcome, ReadOutcome } from "../../raft/core/message.ts";
import type { Ready } from "../../raft/core/ready.ts";
import type { Applied } from "../../raft/node.ts";
import { PendingEntries, PendingRequests, RecentResults } from "../../raft/pending.ts";
import { RaftError, type RaftErrorCode } from "../../raft/raft-error.ts";
import { ReadRequests } from "../../raft/read-requests.ts";
import type { Process, SimMember } from "../../raft/testing/simulator/sim-member.ts";
import type { Waiter } from "../../raft/waiter.ts";
import type { Clock } from "../../src/process/clock.ts";

const proposalMs = 3_000;
const readMs = 2_000;
const expiryMs = 250;

export interface ProcessNodeOptions {
  readonly member: SimMember;
  readonly process: Process;
  readonly clock: Clock;
  readonly nextId: () => RequestId;
  /** Reports that the entry promised at this place will not happen. */
  readonly dropped: (index: Index, term: Term) => void;
  /** Reads are answered at once, as if a quorum had confirmed them. */
  readonly readsWithoutRound: boolean;
  /** Whether reads that need no other member are answered before the committed entries are applied. */
  readonly readsUnapplied: boolean;
}

/**
 * The user's view of a `RaftNode` for a process of the simulation: promises for proposals and reads, settled by the same
 * rules. The core is called only in separate turns, so that a crash point in it ends the process and not a promise.
 */
export class ProcessNode {
  readonly #options: ProcessNodeOptions;
  readonly #entries = new PendingEntries<Applied<undefined>>();
  readonly #forwarded = new PendingRequests<Applied<undefined>>();
  readonly #recent = new RecentResults<Applied<undefined>>();
  readonly #reads = new ReadRequests();
  #waiting: { readonly data: Uint8Array; readonly waiter: Waiter<Applied<undefined>> }[] = [];
  #isDue = false;
  #stateTerm: Term = noTerm;

  constructor(options: ProcessNodeOptions) {
    this.#options = options;
    options.clock.every(expiryMs, () => this.#expire());
  }

  propose(data: Uint8Array): Promise<Applied<undefined>> {
    return new Promise((resolve, reject) => {
      const deadlineMs = this.#options.clock.steadyMs() + proposalMs;
      this.#waiting.push({ data, waiter: { resolve, reject, deadlineMs } });
      this.#later();
    });
  }

  readIndex(): Promise<Index> {
    if (this.#options.readsWithoutRound) return Promise.resolve(this.#stateIndex);
    return new Promise((resolve, reject) => {
      this.#reads.add({ resolve, reject, deadlineMs: this.#options.clock.steadyMs() + readMs });
      this.#later();
    });
  }

  readAlone(): Index | undefined {
    const index = this.#options.process.node.readAlone();
    const applied = this.#stateIndex;
    return index !== undefined && (index <= applied || this.#options.readsUnapplied) ? applied : undefined;
  }

  status(): Status {
    return this.#options.process.node.status();
  }

  transferLeadership(to: MemberId): void {
    const { member, process } = this.#options;
    const refusal = process.node.transferLeadership(to);
    if (refusal !== undefined) throw this.#error(refusal);
    member.settle(process);
  }

  async stop(): Promise<void> {
    const waiting = this.#waiting.splice(0).map(({ waiter }) => waiter);
    this.#rejectAll([...waiting, ...this.#entries.takeAll(), ...this.#forwarded.takeAll()], "stopped");
    this.#rejectAll(this.#reads.takeAll(), "stopped");
  }

  handedOut({ proposalResults }: Ready): void {
    for (const { id, outcome } of proposalResults) {
      const waiter = this.#forwarded.take(id);
      if (waiter !== undefined) this.#settle(outcome, waiter);
    }
  }

  readAnswered(id: RequestId, outcome: ReadOutcome): void {
    if (outcome.kind === "refused") return this.#rejectAll(this.#reads.takeRefused(id), outcome.reason);
    this.#reads.confirmed(id, outcome.index);
    this.#answerReads();
  }

  applied(entries: readonly Entry[]): void {
    for (const entry of entries) {
      const taken = this.#entries.take(entry);
      const result = { index: entry.index, result: undefined };
      if (taken === undefined) this.#recent.add(entry, result);
      else if (taken.isIt) taken.waiter.resolve(result);
      else taken.waiter.reject(this.#error("dropped"));
    }
    this.#answerReads();
    const { term = this.#stateTerm } = entries.at(-1) ?? {};
    if (term === this.#stateTerm) return;
    this.#stateTerm = term;
    this.#rejectAll(this.#entries.takeBefore(term), "dropped");
  }

  installed(): void {
    this.#rejectAll(this.#entries.takeUpTo(this.#stateIndex), "unknown");
    this.#answerReads();
  }

  /** Reports that a connection to `member` broke. */
  gone(member: MemberId): void {
    this.#rejectAll(this.#forwarded.takeOf(member), "unknown");
  }

  get #stateIndex(): Index {
    return this.#options.process.machine.index;
  }

  #later(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    this.#options.clock.after(0, () => {
      this.#isDue = false;
      this.#ask();
    });
  }

  #ask(): void {
    const { member, process, nextId } = this.#options;
    const { node } = process;
    for (const { data, waiter } of this.#waiting.splice(0)) {
      const id = nextId();
      const answer = node.propose(id, data);
      if (answer.kind === "forwarded") this.#forwarded.add(id, answer.to, waiter);
      else this.#settle(answer, waiter);
    }
    const readers = this.#reads.takeFresh();
    if (readers.length > 0) {
      const id = nextId();
      const refusal = node.readIndex(id);
      if (refusal === undefined) this.#reads.asked(id, readers);
      else this.#rejectAll(readers, refusal);
    }
    member.settle(process);
  }

  #settle(outcome: ProposalOutcome, waiter: Waiter<Applied<undefined>>): void {
    if (outcome.kind === "refused") return waiter.reject(this.#error(outcome.reason));
    const { index, term } = outcome;
    if (index > this.#stateIndex) {
      if (term < this.#stateTerm) return waiter.reject(this.#error("dropped"));
      return this.#entries.add(index, term, this.#watched(index, term, waiter))?.reject(this.#error("unknown"));
    }
    const recent = this.#recent.get(index);
    if (recent?.term === term) waiter.resolve(recent.result);
    else waiter.reject(this.#error(recent === undefined ? "unknown" : "dropped"));
  }

  #watched(index: Index, term: Term, waiter: Waiter<Applied<undefined>>): Waiter<Applied<undefined>> {
    const reject = (error: Error) => {
      if (error instanceof RaftError && error.code === "dropped") this.#options.dropped(index, term);
      waiter.reject(error);
    };
    return { ...waiter, reject };
  }

  #answerReads(): void {
    for (const { resolve } of this.#reads.takeReady(this.#stateIndex)) resolve(this.#stateIndex);
  }

  #expire(): void {
    const nowMs = this.#options.clock.steadyMs();
    this.#rejectAll(this.#entries.takeExpired(nowMs), "unknown");
    this.#rejectAll(this.#forwarded.takeExpired(nowMs), "unknown");
    this.#rejectAll(this.#reads.takeExpired(nowMs), "unconfirmed");
  }

  #rejectAll(waiters: readonly Pick<Waiter<never>, "reject">[], code: RaftErrorCode): void {
    for (const { reject } of waiters) reject(this.#error(code));
  }

  #error(code: RaftErrorCode): RaftError {
    return new RaftError(code, this.#options.process.node.softState.leader);
  }
}
