import { randomInt } from "node:crypto";
import { CommitNotices } from "./commit-notices.ts";
import { Compaction } from "./compaction.ts";
import type { ConfChange } from "./core/conf-change.ts";
import type { Status } from "./core/consensus-node.ts";
import type { Entry } from "./core/entry.ts";
import { type Index, type MemberId, noTerm, type RequestId, type Term, toRequestId } from "./core/ids.ts";
import type { Membership } from "./core/membership.ts";
import type { InstallSnapshot, Message, ProposalOutcome } from "./core/message.ts";
import { RawNode } from "./core/raw-node.ts";
import type { ProposalResult, ReadState, Ready, SoftState, Write } from "./core/ready.ts";
import { noCrash, type ReachCrashPoint } from "./crash-point.ts";
import { DurabilityContract } from "./durability-contract.ts";
import { finishRestore } from "./finish-restore.ts";
import { changesMembership, heardMembers, isSame } from "./heard-members.ts";
import { observed, observedApply, type Queues } from "./node-observer.ts";
import { defaultTiming, type RaftNodeOptions, type Stall, type Timing } from "./node-options.ts";
import { PendingEntries, PendingRequests, RecentResults } from "./pending.ts";
import { ProposalBatch } from "./proposal-batch.ts";
import { RaftError, type RaftErrorCode } from "./raft-error.ts";
import { ReadRequests } from "./read-requests.ts";
import { SerialQueue } from "./serial-queue.ts";
import { StallWatch } from "./stall-watch.ts";
import type { StateMachine } from "./state-machine.ts";
import type { Log } from "./storage/log.ts";
import type { DropReason, Transport } from "./transport/transport.ts";
import { Turns } from "./turns.ts";
import type { Waiter } from "./waiter.ts";

export interface Applied<Result> {
  readonly index: Index;
  readonly result: Result;
}

/** Fine-grained, so that two members seldom draw the same election timeout. */
const ticksPerHeartbeat = 4;
const forwardedMax = 65_536;
/** Smaller than the core's default: a message of a megabyte costs more to allocate than it saves in calls. */
const defaultAppendBytesMax = 160 << 10;

/**
 * One running member. Feeds time, messages and requests to the core, and executes its output. The library waits only here
 * and in the parts that this class uses. `durability-contract.ts` defines what waits for the disk.
 */
export class RaftNode<Result> {
  readonly #options: RaftNodeOptions<Result>;
  readonly #timing: Timing;
  readonly #core: RawNode;
  readonly #log: Log;
  readonly #transport: Transport;
  readonly #stateMachine: StateMachine<Result>;
  readonly #reach: ReachCrashPoint;
  /** Runs everything that touches the state machine, one after the other. */
  readonly #stateQueue = new SerialQueue();
  readonly #proposals = new ProposalBatch<Applied<Result>>();
  #holding: ReturnType<typeof setTimeout> | undefined;
  readonly #entries = new PendingEntries<Applied<Result>>();
  readonly #forwarded = new PendingRequests<Applied<Result>>();
  readonly #recent = new RecentResults<Applied<Result>>();
  readonly #reads = new ReadRequests();
  #nextId: number = randomInt(2 ** 47);
  /** The index that the state machine has applied. It is ahead of the core while a snapshot is being installed. */
  #stateIndex: Index;
  /** Term of the newest entry that was applied. */
  #stateTerm: Term = noTerm;
  readonly #watch: StallWatch;
  readonly #turns: Turns;
  #stallToldAtMs = Number.NEGATIVE_INFINITY;
  readonly #notices = new CommitNotices();
  readonly #contract: DurabilityContract;
  #installed: (() => void)[] = [];
  #membership: Membership | undefined;
  /** Members that the transport talks to. */
  #heard: readonly MemberId[] | undefined;
  #outgoingSnapshots = new Map<MemberId, Index>();
  readonly #compaction: Compaction;
  #timer: ReturnType<typeof setInterval> | undefined;
  #stopped: RaftErrorCode | undefined;

  private constructor(options: RaftNodeOptions<Result>, core: RawNode, stateIndex: Index) {
    this.#options = options;
    this.#timing = { ...defaultTiming, ...options.timing };
    this.#core = core;
    this.#log = options.log;
    this.#transport = options.transport;
    this.#stateMachine = options.stateMachine;
    this.#reach = options.reach ?? noCrash;
    this.#stateIndex = stateIndex;
    this.#compaction = new Compaction({
      core,
      log: options.log,
      logBytesMax: options.logBytesMax,
      tailEntries: options.tailEntries,
      checkpoint: () => options.stateMachine.checkpoint(),
      onState: (task) => void this.#onState(task),
      outgoingSnapshots: () => this.#outgoingSnapshots.values(),
      isStopped: () => this.#stopped !== undefined,
    });
    this.#watch = new StallWatch(this.#timing.electionMs, performance.now());
    this.#turns = new Turns(() => this.#guard(() => this.#work()));
    this.#contract = new DurabilityContract({
      log: options.log,
      writes: this.#watch.writes,
      reach: this.#reach,
      send: (messages) => this.#send(this.#notices.sift(messages)),
      sendPromises: (messages) => this.#send(messages),
      persisted: (write, tookMs) => this.#persisted(write, tookMs),
      apply: (committed) => this.#apply(committed),
      resume: (run) => this.#input(run),
      fail: (error) => this.#fail(error),
    });
  }

  /**
   * Starts a member with the contents of its log and state machine. The node then owns the log and the transport.
   * @throws if the log and the state machine do not match
   */
  static async start<Result>(options: RaftNodeOptions<Result>): Promise<RaftNode<Result>> {
    const stateIndex = options.stateMachine.durableIndex();
    const recovered = await finishRestore(options.log, stateIndex);
    const { heartbeatMs, electionMs } = { ...defaultTiming, ...options.timing };
    const core = new RawNode(
      {
        id: options.id,
        heartbeatTicks: ticksPerHeartbeat,
        electionTicks: Math.max(ticksPerHeartbeat + 1, Math.round((ticksPerHeartbeat * electionMs) / heartbeatMs)),
        random: { below: (limit) => randomInt(limit) },
        limits: { appendBytesMax: defaultAppendBytesMax, ...options.limits },
      },
      { ...recovered, applied: stateIndex },
    );
    const node = new RaftNode(options, core, stateIndex);
    await node.#begin();
    return node;
  }

  async #begin(): Promise<void> {
    await this.#transport.start({
      receive: (message) => this.#input(() => this.#core.step(message)),
      receiveSnapshot: (message, chunks) => this.#receiveSnapshot(message, chunks),
      dropped: (message, reason) => this.#dropped(message, reason),
      disconnected: (member) => this.#input(() => this.#core.reportUnreachable(member)),
      gone: (member) => this.#input(() => this.#gone(member)),
      violated: (member, violation) => this.#options.events?.violated?.(member, violation),
      refused: (member, refusal) => this.#options.events?.refused?.(member, refusal),
    });
    this.#watch.ticked(performance.now(), this.#timing.heartbeatMs, ticksPerHeartbeat);
    this.#timer = setInterval(() => this.#tick(), this.#timing.heartbeatMs / ticksPerHeartbeat);
    this.#followMembership();
    this.#turns.later();
  }

  /**
   * Proposes an entry. Resolves when it has been applied here.
   * @throws RaftError
   */
  propose(data: Uint8Array): Promise<Applied<Result>> {
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) return reject(this.#error(this.#stopped));
      const nowMs = performance.now();
      const deadlineMs = nowMs + this.#timing.proposalMs;
      const waiter = observed({ resolve, reject, deadlineMs }, this.#options.observer, nowMs);
      this.#proposals.add({ data, waiter }, nowMs);
      if (this.#entries.size === 0 && this.#forwarded.size === 0) this.#turns.now();
      else this.#turns.soon(nowMs);
    });
  }

  /**
   * Returns an index that was committed when the call was made. Resolves when it has been applied here, so a read of
   * the state machine is then linearizable (thesis §6.4).
   * @throws RaftError
   */
  readIndex(): Promise<Index> {
    const index = this.readAlone();
    if (index !== undefined) return Promise.resolve(index);
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) return reject(this.#error(this.#stopped));
      const nowMs = performance.now();
      this.#reads.add({ resolve, reject, deadlineMs: nowMs + this.#timing.readMs });
      this.#turns.soon(nowMs);
    });
  }

  /** Returns the read index of the only voter at once, or undefined if another member must be asked. */
  readAlone(): Index | undefined {
    const index = this.#stopped === undefined ? this.#core.readAlone() : undefined;
    return index !== undefined && index <= this.#stateIndex ? this.#stateIndex : undefined;
  }

  /**
   * Changes the membership; on the leader only. Resolves when the change has been applied here.
   * @throws RaftError
   */
  changeMembership(change: ConfChange): Promise<Index> {
    return new Promise((resolve, reject) => {
      if (this.#stopped !== undefined) return reject(this.#error(this.#stopped));
      const deadlineMs = performance.now() + this.#timing.proposalMs;
      const waiter = { reject, deadlineMs, resolve: ({ index }: Applied<Result>) => resolve(index) };
      this.#settleProposal(this.#core.proposeConfChange(change), waiter);
      this.#turns.later();
    });
  }

  /**
   * Transfers leadership; on the leader only. It is complete when `status().leader` is the other member, and is abandoned
   * after an election timeout.
   */
  transferLeadership(to: MemberId): void {
    const refusal = this.#core.transferLeadership(to);
    if (refusal !== undefined) throw this.#error(refusal);
    this.#turns.later();
  }

  /** Starts an election at once. */
  campaign(): void {
    this.#input(() => this.#core.campaign());
  }

  status(): Status {
    return this.#core.status();
  }

  /** Returns role, term and leader. Costs less than `status`. */
  get softState(): SoftState {
    return this.#core.softState;
  }

  /** Returns the numbers of waiting requests and entries. */
  queues(): Queues {
    const { queuedBytes } = this.#transport;
    const others = queuedBytes === undefined ? [] : (this.#heard ?? []).filter((member) => member !== this.#core.id);
    return {
      proposals: this.#proposals.size,
      entries: this.#entries.size,
      forwarded: this.#forwarded.size,
      writes: this.#watch.writes.begun - this.#watch.writes.done,
      batches: this.#watch.batches.begun - this.#watch.batches.done,
      outbound: others.map((member) => ({ member, bytes: queuedBytes?.call(this.#transport, member) ?? 0 })),
    };
  }

  /** Stops after the current write and the entries being applied. Pending proposals end with an unknown outcome. */
  async stop(): Promise<void> {
    this.#shutDown("stopped");
    await this.#transport.close();
    await this.#stateQueue.idle();
    await this.#log.close();
  }

  #input(step: () => void): void {
    if (this.#stopped !== undefined) return;
    this.#guard(step);
    this.#turns.soon(performance.now());
  }

  #work(): void {
    this.#noticeStalls();
    this.#proposeWaiting();
    this.#askReads();
    this.#notices.beginTurn();
    while (this.#core.hasReady()) {
      const ready = this.#core.ready();
      this.#core.advance(ready);
      this.#take(ready);
    }
    this.#compaction.whenLarge();
    if (this.#proposals.size > 0) return this.#notices.wait();
    this.#transport.send(this.#notices.takeDue());
    if (this.#notices.areWaiting) this.#turns.later();
  }

  /** Holds proposals back while the disk is busy, so that they are written together. */
  #proposeWaiting(): void {
    if (this.#proposals.size === 0) return;
    const waitMs = this.#watch.writes.isIdle ? 0 : this.#proposals.waitMs(performance.now());
    if (waitMs > 0) {
      this.#holding ??= setTimeout(() => {
        this.#holding = undefined;
        this.#turns.later();
      }, waitMs);
      return;
    }
    for (const { data, waiter } of this.#proposals.takeAll()) {
      if (this.#forwarded.size >= forwardedMax) {
        waiter.reject(this.#error("tooManyBytes"));
        continue;
      }
      const id = this.#newId();
      const answer = this.#core.propose(id, data);
      if (answer.kind === "forwarded") this.#forwarded.add(id, answer.to, waiter);
      else this.#settleProposal(answer, waiter);
    }
  }

  #take(ready: Ready): void {
    this.#contract.take(ready);
    for (const result of ready.proposalResults) this.#forwardedAnswer(result);
    for (const state of ready.readStates) this.#readAnswer(state);
    if (ready.softState !== undefined) this.#options.events?.softState?.(ready.softState);
    if (changesMembership(ready)) this.#followMembership();
  }

  #persisted({ mark, entries, snapshot }: Write, tookMs: number): void {
    this.#options.observer?.persisted?.(tookMs, entries.length);
    this.#core.persisted(mark);
    if (snapshot !== undefined) this.#snapshotInstalled(snapshot.index);
  }

  #send(messages: readonly Message[]): void {
    if (messages.length === 0) return;
    const plain = messages.filter((message) => message.type !== "snapshot");
    this.#transport.send(plain);
    if (plain.length === messages.length) return;
    for (const message of messages) if (message.type === "snapshot") void this.#sendSnapshot(message);
  }

  /** Applies entries. Those that a restored snapshot contains count as applied. */
  #apply(entries: readonly Entry[]): void {
    this.#watch.batches.begin(performance.now());
    const { observer } = this.#options;
    if (observer?.committed !== undefined) this.#entries.observeCommit(entries, this.#timing.proposalMs, observer);
    void this.#onState(async () => {
      const fresh = entries.filter(({ index }) => index > this.#stateIndex);
      this.#reach("beforeApply");
      const results = fresh.length > 0 ? await this.#applyFresh(fresh) : [];
      this.#reach("afterApply");
      this.#watch.batches.end(performance.now());
      const last = entries.at(-1);
      if (last === undefined || this.#stopped !== undefined) return;
      if (last.index > this.#stateIndex) this.#stateIndex = last.index;
      this.#core.applied(last.index);
      this.#reach("beforeAnswer");
      this.#answer(entries, entries.length - fresh.length, results);
      this.#dropBefore(last.term);
      this.#turns.later();
    });
  }

  #applyFresh(entries: readonly Entry[]): readonly Result[] | Promise<readonly Result[]> {
    const { observer } = this.#options;
    if (observer?.applied === undefined) return this.#stateMachine.apply(entries);
    return observedApply(this.#stateMachine, entries, observer);
  }

  /** Rejects proposals of earlier terms. Once an entry of a later term is applied, they can no longer be committed. */
  #dropBefore(term: Term): void {
    if (term === this.#stateTerm) return;
    this.#stateTerm = term;
    this.#rejectAll(this.#entries.takeBefore(term), "dropped");
  }

  #answer(entries: readonly Entry[], skipped: number, results: readonly Result[]): void {
    entries.forEach((entry, position) => {
      const taken = this.#entries.take(entry);
      const result = { index: entry.index, result: results[position - skipped] as Result };
      if (taken === undefined) {
        if (this.#forwarded.size > 0 && position >= skipped) this.#recent.add(entry, result);
      } else if (!taken.isIt) taken.waiter.reject(this.#error("dropped"));
      else if (position < skipped) taken.waiter.reject(this.#error("unknown"));
      else taken.waiter.resolve(result);
    });
    this.#answerReads();
  }

  #answerReads(): void {
    for (const { resolve } of this.#reads.takeReady(this.#stateIndex)) resolve(this.#stateIndex);
  }

  #settleProposal(outcome: ProposalOutcome, waiter: Waiter<Applied<Result>>): void {
    if (outcome.kind === "refused") return waiter.reject(this.#error(outcome.reason));
    const { index, term } = outcome;
    if (index > this.#stateIndex) {
      if (term < this.#stateTerm) return waiter.reject(this.#error("dropped"));
      return this.#entries.add(index, term, waiter)?.reject(this.#error("unknown"));
    }
    // A forwarded proposal was applied here before its answer arrived.
    const recent = this.#recent.get(index);
    if (recent?.term === term) waiter.resolve(recent.result);
    else waiter.reject(this.#error(recent === undefined ? "unknown" : "dropped"));
  }

  #forwardedAnswer({ id, outcome }: ProposalResult): void {
    const waiter = this.#forwarded.take(id);
    if (waiter !== undefined) this.#settleProposal(outcome, waiter);
  }

  #askReads(): void {
    const waiters = this.#reads.takeFresh();
    if (waiters.length === 0) return;
    const id = this.#newId();
    const refusal = this.#core.readIndex(id);
    if (refusal === undefined) this.#reads.asked(id, waiters);
    else this.#rejectAll(waiters, refusal);
  }

  #readAnswer({ id, outcome }: ReadState): void {
    if (outcome.kind === "refused") return this.#rejectAll(this.#reads.takeRefused(id), outcome.reason);
    this.#reads.confirmed(id, outcome.index);
    this.#answerReads();
  }

  /** Drop a message that cannot be sent. The core resends what the other member lacks. */
  #dropped(message: Message, reason: DropReason): void {
    this.#options.events?.dropped?.(message, reason);
    if (message.type === "propose" && message.from === this.#core.id) {
      this.#forwarded.take(message.id)?.reject(this.#error("dropped"));
    } else if (message.type === "readIndex" && message.from === this.#core.id) {
      this.#rejectAll(this.#reads.takeRefused(message.id), "noLeader");
    } else if (message.type === "append") {
      // The core is still handing out its `ready`, so tell it in the next turn.
      queueMicrotask(() => this.#input(() => this.#core.reportUnreachable(message.to)));
    }
  }

  /** Rejects the requests that were sent to a departed leader, which will not answer them. */
  #gone(member: MemberId): void {
    if (this.#core.softState.leader === member) this.#rejectAll(this.#reads.takeAllAsked(), "noLeader");
    this.#rejectAll(this.#forwarded.takeOf(member), "unknown");
    this.#core.reportGone(member);
  }

  #tick(): void {
    if (this.#stopped !== undefined) return;
    this.#guard(() => {
      this.#noticeStalls();
      const nowMs = performance.now();
      const ticks = this.#watch.ticked(nowMs, this.#timing.heartbeatMs, ticksPerHeartbeat);
      // A member with a stuck disk could not lead. It gets no ticks, so it starts no election.
      for (let tick = 0; tick < ticks && this.#watch.isFit(nowMs); tick++) this.#core.tick();
      this.#expire();
      this.#followMembership();
    });
    this.#turns.later();
  }

  /** Gives up leadership after the process stood still, because another leader may exist. */
  #noticeStalls(): void {
    for (const { what, ms } of this.#watch.stalls(performance.now())) this.#stalled(what, ms);
  }

  /** Steps down, except as the only voter: no other member could take over. */
  #stalled(what: Stall, ms: number): void {
    const leads = this.#core.softState.role === "leader";
    const isAlone = this.#core.readAlone() !== undefined;
    const isTold = isAlone && performance.now() - this.#stallToldAtMs < this.#timing.electionMs;
    if ((leads || what === "process") && !isTold) {
      this.#stallToldAtMs = performance.now();
      this.#options.events?.stalled?.(what, ms);
    }
    if (!isAlone) this.#core.stepDown();
  }

  #expire(): void {
    const nowMs = performance.now();
    this.#rejectAll(this.#entries.takeExpired(nowMs), "unknown");
    this.#rejectAll(this.#forwarded.takeExpired(nowMs), "unknown");
    this.#rejectAll(this.#reads.takeExpired(nowMs), "unconfirmed");
  }

  #followMembership(): void {
    const { membership } = this.#core.log;
    const heard = heardMembers(this.#core.log, this.#core.id, this.#options.seeds ?? []);
    if (!isSame(heard, this.#heard)) {
      this.#heard = heard;
      this.#transport.setMembers(heard);
    }
    if (membership === this.#membership) return;
    this.#membership = membership;
    this.#options.events?.membership?.(membership);
  }

  /** Streams the current state, which is at least as new as the snapshot that the core asked for. */
  async #sendSnapshot(message: InstallSnapshot): Promise<void> {
    const { to } = message;
    if (this.#outgoingSnapshots.has(to)) return;
    this.#outgoingSnapshots.set(to, message.snapshot.index);
    const begunMs = performance.now();
    let arrived = false;
    try {
      const { image, snapshot } = await this.#onState(async () => {
        const taken = await this.#stateMachine.snapshot();
        return { image: taken, snapshot: this.#core.snapshotMeta(taken.index) };
      });
      this.#outgoingSnapshots.set(to, snapshot.index);
      try {
        await this.#transport.sendSnapshot({ ...message, snapshot }, image.chunks);
        arrived = true;
      } finally {
        image.release();
      }
    } catch {
      // The receiver will ask again. If the state machine failed, the node has already stopped.
    }
    this.#outgoingSnapshots.delete(to);
    this.#options.observer?.snapshotSent?.(to, performance.now() - begunMs, arrived);
    this.#input(() => this.#core.reportSnapshot(to, arrived));
  }

  /**
   * Installs a snapshot: first the log records that it is coming, then the state machine restores it, then the core
   * starts a new log after it. A crash in between leaves the old state, or the new one with a log that `finishRestore`
   * repairs.
   */
  #receiveSnapshot(message: InstallSnapshot, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const { snapshot } = message;
    return this.#stateQueue.run(async () => {
      if (this.#stopped !== undefined) throw this.#error(this.#stopped);
      if (snapshot.index > this.#stateIndex) {
        await this.#log.append({ expected: snapshot, entries: [] });
        this.#reach("snapshotBeforeRestore");
        const begunMs = performance.now();
        await this.#stateMachine.restore(snapshot.index, chunks);
        this.#reach("snapshotAfterRestore");
        this.#stateIndex = snapshot.index;
        this.#options.observer?.snapshotReceived?.(snapshot.index, performance.now() - begunMs);
      }
      if (this.#core.status().applied >= snapshot.index) return;
      this.#input(() => this.#core.step(message));
      // The core has installed it, or no longer needs it: it has that index already, or another leader.
      if (this.#core.status().baseIndex !== snapshot.index) return;
      await new Promise<void>((resolve) => this.#installed.push(resolve));
      this.#reach("snapshotAfterInstall");
    });
  }

  #snapshotInstalled(index: Index): void {
    this.#rejectAll(this.#entries.takeUpTo(index), "unknown");
    for (const resolve of this.#installed.splice(0)) resolve();
    this.#answerReads();
  }

  /** Runs a task on the state machine after earlier ones. If it fails, the node stops. */
  #onState<T>(task: () => Promise<T>): Promise<T> {
    const run = this.#stateQueue.run(task);
    run.catch((error: Error) => this.#fail(error));
    return run;
  }

  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #fail(error: Error): void {
    if (this.#stopped !== undefined) return;
    this.#shutDown("stopped", error);
    this.#options.events?.failed?.(error);
  }

  #shutDown(code: RaftErrorCode, cause?: Error): void {
    this.#stopped ??= code;
    this.#turns.stop();
    clearInterval(this.#timer);
    clearTimeout(this.#holding);
    const proposals = this.#proposals.takeAll().map(({ waiter }) => waiter);
    this.#rejectAll([...proposals, ...this.#entries.takeAll(), ...this.#forwarded.takeAll()], code, cause);
    this.#rejectAll(this.#reads.takeAll(), code, cause);
    for (const resolve of this.#installed.splice(0)) resolve();
  }

  #rejectAll(waiters: readonly Pick<Waiter<never>, "reject">[], code: RaftErrorCode, cause?: unknown): void {
    for (const { reject } of waiters) reject(this.#error(code, cause));
  }

  #error(code: RaftErrorCode, cause?: unknown): RaftError {
    return new RaftError(code, this.#core.softState.leader, cause);
  }

  #newId(): RequestId {
    this.#nextId++;
    return toRequestId(this.#nextId);
  }
}
