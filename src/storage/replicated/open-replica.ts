import { randomUUID } from "node:crypto";
import {
  createLog,
  foundedBy,
  type Log,
  LogError,
  logExists,
  membershipOf,
  type NodeObserver,
  noMembership,
  openLog,
  RaftNode,
  type Timing,
  type Transport,
  toMemberId,
} from "../../../raft/index.ts";
import { type Clock, systemClock } from "../../process/clock.ts";
import { AppliedFeed } from "../applied-feed.ts";
import type { MemberNumber } from "../cluster.ts";
import { DataDirectory } from "../mvcc/data-directory.ts";
import { DataDirectoryError } from "../mvcc/data-directory-error.ts";
import { openDatabase } from "../mvcc/database.ts";
import { formatVersion, type MemberIdentity } from "../mvcc/identity.ts";
import { type OpenedState, openState } from "../mvcc/open-state.ts";
import { StoreUnavailableError } from "../store.ts";
import { handOver } from "./hand-over.ts";
import { LeaderWatch } from "./leader-watch.ts";
import { LogFollowers } from "./log-followers.ts";
import type { LogSource } from "./log-source.ts";
import { noPeers } from "./no-peers.ts";
import { Proposer } from "./proposer.ts";
import { ReplicaCluster } from "./replica-cluster.ts";
import { ReplicaState } from "./replica-state.ts";
import { ReplicatedStore } from "./replicated-store.ts";
import { verifyStates } from "./state-verifier.ts";

/** A single replica needs its log only for restarts. Other members also need it to catch up. */
const aloneLog = { logBytesMax: 4 * 1024 * 1024, tailEntries: 0 };
const sharedLog = { logBytesMax: 32 * 1024 * 1024, tailEntries: 5_000 };
/** Size of a log file. Some files are spare, so larger files would need several times the log's own bytes. */
const segmentBytes = 8 * 1024 * 1024;
/** A single replica sends no heartbeats, so it wakes up less often. */
const aloneTiming: Partial<Timing> = { heartbeatMs: 1_000, electionMs: 2_000 };
/** Time after which a write or read without an answer is retried. */
const attemptTiming: Partial<Timing> = { proposalMs: 3_000, readMs: 2_000 };

/** A replica's identity, for the function that connects it to the others. */
export interface ReplicaSelf {
  readonly clusterId: string;
  readonly id: MemberNumber;
  /** How often its log was opened. */
  readonly starts: number;
  /** Returns the `host:port` of another member. */
  peerAddressOf(member: MemberNumber): string | undefined;
  /** Reports whether a member that the log does not name yet may exist. */
  mayHaveJoined(member: MemberNumber): boolean;
  /** Reports whether a member existed and was removed. */
  wasRemoved(member: MemberNumber): boolean;
}

export interface OpenedLog {
  readonly log: Log;
  readonly starts: number;
}

export interface ReplicaOptions {
  /** The data directory, created with mode 0700 if it does not exist. The replica then founds its own cluster. */
  readonly directory: string;
  readonly clock?: Clock;
  /** Amount of log to keep; see `RaftNodeOptions`. */
  readonly log?: { readonly logBytesMax: number; readonly tailEntries: number };
  /** Connects to other members. A replica is alone if this is absent or returns undefined. */
  readonly connect?: (self: ReplicaSelf) => Promise<Transport | undefined>;
  /** Functions that open the database and the log. Tests inject faults here. */
  readonly open?: typeof openDatabase;
  readonly openLog?: (directory: string, owner: Parameters<typeof openLog>[1]) => Promise<OpenedLog>;
  readonly onEvent?: (event: ReplicaEvent) => void;
  readonly observer?: ReplicaObserver;
}

/** Receives the durations of operations. */
export type ReplicaObserver = Partial<NodeObserver>;

/** Reports events to the operator. */
export type ReplicaEvent =
  | { readonly kind: "leader"; readonly leader: MemberNumber | undefined; readonly term: number }
  | { readonly kind: "stalled"; readonly what: string; readonly ms: number }
  | { readonly kind: "refused"; readonly member: MemberNumber; readonly reason: string }
  | { readonly kind: "violated"; readonly member: MemberNumber | undefined; readonly error: Error }
  | { readonly kind: "failed"; readonly error: Error }
  /** The other members have removed this one for good. */
  | { readonly kind: "removed" };

export interface OpenReplica {
  readonly store: ReplicatedStore;
  readonly cluster: ReplicaCluster;
  readonly source: LogSource;
}

/**
 * Opens the replica of a data directory. It serves its state at once; `store.readBarrier()` resolves when it is part of a
 * quorum.
 * @throws DataDirectoryError if the directory is in use, foreign, damaged, too new or accessible to others
 */
export async function openReplica(options: ReplicaOptions): Promise<OpenReplica> {
  const { open = openDatabase } = options;
  const founder: MemberIdentity = { clusterId: randomUUID(), id: 1, seeds: [] };
  await using opening = new AsyncDisposableStack();
  const directory = await DataDirectory.open(options.directory, founder);
  opening.defer(() => directory.release());
  const { log, starts } = await openOwnLog(
    directory,
    options.openLog ?? ((...where) => openLog(...where, { segmentBytes })),
  );
  opening.defer(() => log.close());
  const opened = await openState(directory, open);
  opening.defer(() => opened.database.close());
  checkReadable(directory, opened);
  const replica = await startReplica({ options, directory, log, starts, opened });
  opening.move();
  return replica;
}

/**
 * Opens the log. Creates it for a new directory and for one that an older version made without a log, but never for one
 * that has lost its log.
 */
async function openOwnLog(directory: DataDirectory, open: NonNullable<ReplicaOptions["openLog"]>): Promise<OpenedLog> {
  const { identity, logPath } = directory;
  const member = identity.member ?? { clusterId: identity.id, id: 1, seeds: [] };
  const owner = { clusterId: member.clusterId, memberId: toMemberId(member.id) };
  try {
    if ((identity.state === "new" || identity.member === undefined) && !logExists(logPath)) {
      const founders = member.seeds.length === 0 ? membershipOf([owner.memberId]) : noMembership;
      await createLog(logPath, owner, foundedBy(founders));
    }
    if (identity.format < formatVersion) await directory.setMember(member);
    return await open(logPath, owner);
  } catch (error) {
    if (!(error instanceof LogError)) throw error;
    throw new DataDirectoryError(directory.path, error.problem, error.advice);
  }
}

/** Rejects unreadable objects if other members exist, because this replica must then take the state from them. */
export function checkReadable(
  { path }: DataDirectory,
  { corrupt, record }: Pick<OpenedState, "corrupt"> & { readonly record: Pick<OpenedState["record"], "members"> },
): void {
  const [first] = corrupt;
  if (first === undefined || record.members.length <= 1) return;
  throw new DataDirectoryError(
    path,
    `${corrupt.length} of its objects cannot be read, such as ${first.key}`,
    "remove this member from the cluster and let it join anew with an empty directory",
  );
}

interface StartParts extends OpenedLog {
  readonly options: ReplicaOptions;
  readonly directory: DataDirectory;
  readonly opened: OpenedState;
}

async function startReplica({ options, directory, log, starts, opened }: StartParts): Promise<OpenReplica> {
  const { clock = systemClock, open = openDatabase, connect, onEvent = () => undefined } = options;
  const { clusterId, id, seeds } = directory.identity.member as MemberIdentity;
  const feed = new AppliedFeed(clock);
  const proposer = new Proposer({ propose: (bytes) => node.propose(bytes), appliedIndex: () => state.index, clock });
  const followers = new LogFollowers();
  const leader = new LeaderWatch(id, clock, () => {
    proposer.leaderChanged();
    followers.leaderChanged();
  });
  const end = (event: ReplicaEvent, reason: string) => {
    if (store.failure !== undefined) return;
    store.fail(new StoreUnavailableError(reason));
    followers.failed(reason);
    onEvent(event);
    void node.stop();
  };
  const fail = (error: Error) =>
    end({ kind: "failed", error }, `the store failed and takes no more writes: ${error.message}`);
  const state = new ReplicaState({ directory, clusterId, opened, feed, proposer, followers, open, onFailure: fail });
  const peerAddressOf = (member: MemberNumber) =>
    (state.members.get(member) ?? seeds.find((seed) => seed.id === member))?.peerAddress;
  const mayHaveJoined = (member: MemberNumber) => state.mayHaveJoined(member);
  const wasRemoved = (member: MemberNumber) => state.wasRemoved(member);
  const transport = await connect?.({ clusterId, id, starts, peerAddressOf, mayHaveJoined, wasRemoved });
  const node: RaftNode<undefined> = await RaftNode.start({
    id: toMemberId(id),
    log,
    transport: transport ?? noPeers(),
    stateMachine: state,
    seeds: seeds.map((seed) => toMemberId(seed.id)),
    timing: { ...attemptTiming, ...(transport === undefined && aloneTiming) },
    ...(options.log ?? (transport === undefined ? aloneLog : sharedLog)),
    ...(options.observer === undefined ? {} : { observer: options.observer }),
    events: {
      softState(soft) {
        const before = leader.leader;
        leader.softState(soft);
        if (leader.leader !== before) onEvent({ kind: "leader", leader: leader.leader, term: soft.term });
      },
      membership: (membership) => leader.membership(membership),
      failed: fail,
      stalled: (what, ms) => onEvent({ kind: "stalled", what, ms }),
      refused(member, reason) {
        if (reason === "removed") end({ kind: "removed" }, "this member was removed from the cluster");
        else onEvent({ kind: "refused", member, reason });
      },
      violated: (member, error) => onEvent({ kind: "violated", member, error }),
    },
  });
  const { voters } = node.status().membership;
  if (voters.length === 1 && voters[0] === toMemberId(id)) node.campaign();
  const verifier = verifyStates({ clock, state, leader, proposer });
  const release = () => directory.release();
  const parts = { state, node, proposer, feed, leader, clock, release, verifier };
  const store = new ReplicatedStore({ ...parts, handOver: () => handOver(node, leader) });
  const source: LogSource = {
    state,
    follow: (follower) => followers.add(follower),
    propose: (data) => node.propose(data),
    readIndex: () => node.readAlone() ?? node.readIndex(),
  };
  return { store, source, cluster: new ReplicaCluster({ clusterId, self: id, state, node, proposer, leader, store }) };
}
