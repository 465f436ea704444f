import type { Entry as LogRecord } from "../../raft/core/entry.ts";
import type { Index, MemberId, RequestId, Term } from "../../raft/core/ids.ts";
import type { Ready } from "../../raft/core/ready.ts";
import type { Process, SimMember } from "../../raft/testing/simulator/sim-member.ts";
import type { World } from "../../raft/testing/simulator/world.ts";
import type { Key } from "../../src/api/entry.ts";
import type { Revision } from "../../src/api/revision.ts";
import type { Registry } from "../../src/registry/registry.ts";
import { AppliedFeed } from "../../src/storage/applied-feed.ts";
import { CacherSet } from "../../src/storage/cacher/cacher-set.ts";
import type { CacherLimits } from "../../src/storage/cacher/limits.ts";
import type { HistoryReader } from "../../src/storage/mvcc/history-reader.ts";
import { handOver } from "../../src/storage/replicated/hand-over.ts";
import { LeaderWatch } from "../../src/storage/replicated/leader-watch.ts";
import { LogFollowers } from "../../src/storage/replicated/log-followers.ts";
import type { LogSource } from "../../src/storage/replicated/log-source.ts";
import { Proposer } from "../../src/storage/replicated/proposer.ts";
import { ReplicatedStore } from "../../src/storage/replicated/replicated-store.ts";
import { verifyStates } from "../../src/storage/replicated/state-verifier.ts";
import { differences } from "../../src/storage/state-difference.ts";
import { configMapRegistry } from "./config-map-registry.ts";
import type { Mutation } from "./mutation.ts";
import { ProcessClock } from "./process-clock.ts";
import { ProcessNode } from "./process-node.ts";
import { renamedWhenRepeated } from "./renamed-when-repeated.ts";
import { originOf, ReplicaMachine } from "./replica-machine.ts";
import { ServingProcesses, type ServingTraits } from "./serving-processes.ts";
import { type HostReplica, SimulatedServer } from "./simulated-server.ts";

const skewMsMaxDefault = 3_600_000;
const historyReadMsMax = 40;

export interface ReplicaOptions {
  readonly world: World;
  readonly member: SimMember;
  readonly process: Process;
  readonly limits: Partial<CacherLimits>;
  readonly mutation: Mutation | undefined;
  readonly serving: ServingTraits | undefined;
  /** Maximum error of the date of a machine; an hour by default. */
  readonly skewMsMax?: number | undefined;
  readonly nextId: () => RequestId;
  readonly dropped: (index: Index, term: Term) => void;
}

/** A process of a replica: the product's own parts between the simulated log and the simulated clients. */
export class Replica extends SimulatedServer implements HostReplica {
  readonly member: SimMember;
  readonly incarnation: number;
  /** Further processes that answer from copies of its state. */
  readonly serving: ServingProcesses | undefined;
  readonly clock: ProcessClock;
  readonly store: ReplicatedStore;
  readonly cachers: CacherSet;
  readonly configMaps: Registry;
  readonly proposer: Proposer;
  readonly node: ProcessNode;
  readonly #process: Process;
  readonly #feed: AppliedFeed;
  readonly #leader: LeaderWatch;
  readonly #followers = new LogFollowers();
  readonly #mutation: Mutation | undefined;
  readonly #world: World;
  #isStopping = false;

  constructor(options: ReplicaOptions) {
    super();
    const { world, member, process, limits, mutation, serving, nextId, dropped } = options;
    const { skewMsMax = skewMsMaxDefault } = options;
    const { random } = world;
    this.#world = world;
    this.member = member;
    this.incarnation = process.incarnation;
    this.#process = process;
    this.#mutation = mutation;
    const skewMs = random.between(-skewMsMax, skewMsMax);
    const clock = new ProcessClock(world, member, process, skewMs);
    this.clock = clock;
    const readsWithoutRound = mutation === "readWithoutRound";
    const readsUnapplied = mutation === "readUnapplied";
    this.node = new ProcessNode({ member, process, clock, nextId, dropped, readsWithoutRound, readsUnapplied });
    this.#feed = new AppliedFeed(clock);
    this.proposer = new Proposer({
      propose: (bytes) => this.node.propose(mutation === "proposedUnderNewName" ? rename(bytes) : bytes),
      appliedIndex: () => this.#machine.index,
      clock,
      origin: originOf(member.id, process.incarnation),
    });
    const rename = renamedWhenRepeated();
    this.#leader = new LeaderWatch(member.id, clock, () => {
      this.proposer.leaderChanged();
      this.#followers.leaderChanged();
    });
    const state = this.#servedState(() => random.between(1, historyReadMsMax));
    const verifier = verifyStates({ clock, state, leader: this.#leader, proposer: this.proposer });
    const defer = (run: () => void) => void clock.after(0, run);
    const parts = { state, node: this.node, proposer: this.proposer, feed: this.#feed, leader: this.#leader };
    this.store = new ReplicatedStore({
      ...parts,
      clock,
      defer,
      verifier,
      handOver: () => handOver(this.node, this.#leader),
      release: async () => undefined,
    });
    this.cachers = new CacherSet({
      store: this.store,
      clock,
      limits,
      random: () => random.below(1_000) / 1_000,
      defer,
    });
    const newUid = () => `${member.id}-${random.next()}-${random.next()}`;
    this.configMaps = configMapRegistry({ store: this.store, cachers: this.cachers, clock, newUid });
    this.#connect();
    if (serving !== undefined) {
      const source = this.#logSource(state);
      this.serving = new ServingProcesses({ replica: this, source, world, limits, traits: serving });
    }
  }

  override get id(): MemberId {
    return this.member.id;
  }

  get replica(): Replica {
    return this;
  }

  /** The processes that accept requests: this one, and those that serve copies of its state. */
  get servers(): readonly SimulatedServer[] {
    return [this, ...(this.serving?.ready ?? [])];
  }

  get areAllReady(): boolean {
    return this.serving?.areReady ?? true;
  }

  get index(): number {
    return this.#machine.index;
  }

  /** Stops as a server does: accepts nothing new, gives running requests some time, and ends. It starts again later. */
  async restart(graceMs: number, afterMs: number): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    await new Promise<void>((resolve) => this.clock.after(graceMs, resolve));
    this.lost();
    this.cachers.close();
    await this.store.close();
    // Not synchronously: a callback of a promise must not end the process to which it belongs.
    this.clock.after(0, () => {
      this.member.crash();
      if (this.#world.isCalm) this.member.start();
      else this.#world.schedule(afterMs, { kind: "restart", member: this.id });
    });
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  override lost(): void {
    super.lost();
    this.serving?.lost();
  }

  /** In the order of `RaftNode` and `ReplicaState`: first visible, then answered. */
  applied(entries: readonly LogRecord[]): void {
    const effects = this.#machine.takeEffects();
    const events = effects.flatMap((effect) => effect.events);
    if (events.length > 0) this.#feed.publish(events, this.store.revision);
    this.#followers.applied(entries);
    for (const effect of effects) this.proposer.applied(effect);
    this.node.applied(entries);
  }

  installed(replaced: ReplicaMachine): void {
    replaced.takeEffects();
    this.#connect();
    const { objects, sessions } = this.#machine.state;
    const events = differences(replaced.state.objects, objects);
    this.#feed.publish(events, objects.revision, this.#mutation !== "cacheNotReset");
    if (this.#mutation !== "servingNotReplaced") this.#followers.replaced();
    this.proposer.stateReplaced(sessions);
    this.node.installed();
  }

  handedOut(ready: Ready): void {
    this.node.handedOut(ready);
    if (ready.softState !== undefined) this.#leader.softState(ready.softState);
    this.#leader.membership(this.#process.node.log.membership);
  }

  /** Whether its disk has a damaged record. */
  get isDamaged(): boolean {
    return this.#machine.isDamaged;
  }

  get #machine(): ReplicaMachine {
    return this.#process.machine as ReplicaMachine;
  }

  #connect(): void {
    this.#machine.proposed = (id) => this.proposer.find(id)?.commands;
    this.#leader.membership(this.#process.node.log.membership);
  }

  /** The log for copies of the state, as `openReplica` makes it. */
  #logSource(state: LogSource["state"]): LogSource {
    const readsUnconfirmed = this.#mutation === "servingReadsUnconfirmed";
    return {
      state,
      follow: (follower) => this.#followers.add(follower),
      propose: (data) => this.node.propose(data),
      readIndex: () => (readsUnconfirmed ? this.index : (this.node.readAlone() ?? this.node.readIndex())),
    };
  }

  /** Reads the past as from a disk: the result comes some time later, when the state has moved on. */
  #servedState(drawDelayMs: () => number) {
    const machine = () => this.#machine;
    const read = async <T>(from: () => T, fromDisk: (disk: HistoryReader) => Promise<T>): Promise<T> => {
      const disk = machine().damagedHistory;
      const found = disk === undefined ? from() : await fromDisk(disk);
      await new Promise<void>((resolve) => this.clock.after(drawDelayMs(), resolve));
      return found;
    };
    return {
      get index() {
        return machine().index;
      },
      get objects() {
        return machine().state.objects;
      },
      get corrupt() {
        return machine().state.corrupt;
      },
      record: () => machine().state.record(),
      swept: async () => undefined,
      close: async () => undefined,
      history: {
        openSnapshots: 0,
        scanAt: (at: Revision, prefix: Key, start: Key, limit: number) =>
          read(
            () => machine().history.scanAt(machine().state.objects, at, prefix, start, limit),
            (disk) => disk.scanAt(at, prefix, start, limit),
          ),
        eventsAfter: (after: Revision, prefix: Key, limit: number) =>
          read(
            () => machine().history.eventsAfter(machine().state.objects, after, prefix, limit),
            (disk) => disk.eventsAfter(after, prefix, limit),
          ),
      },
    };
  }
}
