import { randomUUID } from "node:crypto";
import {
  createLog,
  foundedBy,
  LogError,
  logExists,
  membershipOf,
  noMembership,
  type Log,
  type NodeObserver,
  openLog,
  RaftNode,
  type Timing,
  toMemberId,
  type Transport,
} from "../../../raft/index.ts";
import { type Clock, systemClock } from "../../api/clock.ts";
import { AppliedFeed } from "../applied-feed.ts";
import type { MemberNumber } from "../cluster.ts";
import { DataDirectory } from "../mvcc/data-directory.ts";
import { DataDirectoryError } from "../mvcc/data-directory-error.ts";
import { openDatabase } from "../mvcc/database.ts";
import { formatVersion, type MemberIdentity } from "../mvcc/identity.ts";
import { type OpenedState, openState } from "../mvcc/open-state.ts";
import { StoreUnavailableError } from "../store.ts";
import { LeaderWatch } from "./leader-watch.ts";
import { noPeers } from "./no-peers.ts";
import { Proposer } from "./proposer.ts";
import { ReplicaCluster } from "./replica-cluster.ts";
import { ReplicaState } from "./replica-state.ts";
import { ReplicatedStore } from "./replicated-store.ts";
import { verifyStates } from "./state-verifier.ts";

/** The log of a replica that is alone serves its restart only; with others, those that are behind as well. */
const aloneLog = { logBytesMax: 16 * 1024 * 1024, tailEntries: 0 };
const sharedLog = { logBytesMax: 32 * 1024 * 1024, tailEntries: 5_000 };
/** The log is kept in files of this size, some of them spare ones: larger files would take several times its own bytes. */
const segmentBytes = 8 * 1024 * 1024;
/** Nobody waits for the heartbeats of a replica that is alone: it need not wake up for them. */
const aloneTiming: Partial<Timing> = { heartbeatMs: 1_000, electionMs: 2_000 };
/** An attempt to write or to read that has no end by then is made anew. */
const attemptTiming: Partial<Timing> = { proposalMs: 3_000, readMs: 2_000 };

/** Who the replica is, for whoever connects it to the others. */
export interface ReplicaSelf {
  readonly clusterId: string;
  readonly id: MemberNumber;
  /** How often its log was opened. */
  readonly starts: number;
  /** `host:port` of another member. */
  peerAddressOf(member: MemberNumber): string | undefined;
  /** Of one that the log does not name (yet). */
  mayHaveJoined(member: MemberNumber): boolean;
}

export interface OpenedLog {
  readonly log: Log;
  readonly starts: number;
}

export interface ReplicaOptions {
  /** Created with mode 0700 when it does not exist: the replica then founds a cluster of its own. */
  readonly directory: string;
  readonly clock?: Clock;
  /** How much of the log is kept: see `RaftNodeOptions`. */
  readonly log?: { readonly logBytesMax: number; readonly tailEntries: number };
  /** Absent, or undefined: it is alone. */
  readonly connect?: (self: ReplicaSelf) => Promise<Transport | undefined>;
  /** How the database and the log are opened; tests put some with faults here. */
  readonly open?: typeof openDatabase;
  readonly openLog?: (directory: string, owner: Parameters<typeof openLog>[1]) => Promise<OpenedLog>;
  readonly onEvent?: (event: ReplicaEvent) => void;
  readonly observer?: ReplicaObserver;
}

/** Hears how long things take. */
export type ReplicaObserver = Partial<NodeObserver>;

/** What its operator may want to know. */
export type ReplicaEvent =
  | { readonly kind: "leader"; readonly leader: MemberNumber | undefined; readonly term: number }
  | { readonly kind: "stalled"; readonly what: string; readonly ms: number }
  | { readonly kind: "refused"; readonly member: MemberNumber; readonly reason: string }
  | { readonly kind: "violated"; readonly member: MemberNumber | undefined; readonly error: Error }
  | { readonly kind: "failed"; readonly error: Error };

export interface OpenReplica {
  readonly store: ReplicatedStore;
  readonly cluster: ReplicaCluster;
}

/**
 * Opens the replica of a data directory. It serves what it has at once; `store.readBarrier()` resolves when it takes part
 * in a quorum.
 * @throws DataDirectoryError when the directory is in use, foreign, damaged, too new or open to others
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

/** Made with the directory, or for one that an older version made without: never for one that has lost it. */
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

/** What one replica cannot read the others can: it takes the state from them rather than going on without. */
function checkReadable({ path }: DataDirectory, { corrupt, record }: OpenedState): void {
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
  const leader = new LeaderWatch(id, clock, () => proposer.leaderChanged());
  const fail = (error: Error) => {
    onEvent({ kind: "failed", error });
    store.fail(new StoreUnavailableError(`the store failed and takes no more writes: ${error.message}`));
    void node.stop();
  };
  const state = new ReplicaState({ directory, clusterId, opened, feed, proposer, open, onFailure: fail });
  const peerAddressOf = (member: MemberNumber) =>
    (state.members.get(member) ?? seeds.find((seed) => seed.id === member))?.peerAddress;
  const mayHaveJoined = (member: MemberNumber) => state.mayHaveJoined(member);
  const transport = await connect?.({ clusterId, id, starts, peerAddressOf, mayHaveJoined });
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
      refused: (member, reason) => onEvent({ kind: "refused", member, reason }),
      violated: (member, error) => onEvent({ kind: "violated", member, error }),
    },
  });
  const { voters } = node.status().membership;
  if (voters.length === 1 && voters[0] === toMemberId(id)) node.campaign();
  const verifier = verifyStates({ clock, state, leader, proposer });
  const release = () => directory.release();
  const store = new ReplicatedStore({ state, node, proposer, feed, leader, clock, release, verifier });
  return { store, cluster: new ReplicaCluster({ clusterId, self: id, state, node, proposer, leader, store }) };
}
