import { join } from "node:path";
import { PeerIdentity } from "../access/certificates/peer-identity.ts";
import type { Clock } from "../process/clock.ts";
import type { Log } from "../process/logs.ts";
import { StartupError } from "../process/startup-error.ts";
import { aloneError, type Cluster, type MemberRecord } from "../storage/cluster.ts";
import type { LogSource } from "../storage/replicated/log-source.ts";
import {
  openReplica,
  type ReplicaEvent,
  type ReplicaObserver,
  type ReplicaSelf,
} from "../storage/replicated/open-replica.ts";
import { connectPeers, type PeerNetwork } from "../storage/replicated/peer-network.ts";
import { type Store, StoreUnavailableError } from "../storage/store.ts";
import { type PeerAddress, parsePeerAddress, peerAddressText } from "./member-address.ts";
import { clientUrlOf, type MembershipOptions } from "./membership.ts";
import { RemovedMemberError } from "./removed-member.ts";
import { replicaNotices } from "./replica-notices.ts";

/** Interval at which the log reports that the server is waiting for other members. */
const waitingNoticeMs = 5_000;

/** The gossip identity and address of a member. */
export type GossipContact = Required<Pick<MemberRecord, "peerId" | "gossipAddress">>;

/** A server's membership of its cluster. */
export interface OpenMember {
  /** Directory of the data. */
  readonly directory: string;
  readonly store: Store;
  readonly cluster: Cluster;
  /** The log, for the other processes of this server. */
  readonly source: LogSource;
  /** Called when another member leads, or no known one. */
  onLeaderChanged(listener: () => void): void;
  /** Resolves when the store accepts no more writes, with a RemovedMemberError if this member was removed. */
  readonly failed: Promise<Error>;
  /** Returns the identity that members verify. @throws ClusterError on a replica without other members */
  peers(): PeerIdentity;
  /** Renews this member's credentials. */
  keepFresh(onError: (error: unknown) => void): Disposable;
  /** Address at which the others reach it; undefined for a replica that is alone. */
  readonly peerAddress: PeerAddress | undefined;
  /** Records the addresses of this member, unless they are already known. `port` is that of its API. */
  announce(port: number, gossip: GossipContact | undefined): Promise<void>;
}

/** Receives the replica's measurements. */
export interface ReplicaMetrics {
  readonly observer: ReplicaObserver;
  leaderChanged(): void;
}

export interface MemberParts {
  readonly clock: Clock;
  readonly membership: MembershipOptions;
  readonly log: Log;
  readonly metrics: ReplicaMetrics;
}

/**
 * Opens the replica in the data directory, and connects it to any other members. Resolves when it is part of a quorum,
 * however long that takes.
 * @throws StartupError, DataDirectoryError
 */
export async function openMember(
  directory: string,
  { clock, membership, log, metrics }: MemberParts,
): Promise<OpenMember> {
  let peers: PeerIdentity | undefined;
  let network: PeerNetwork | undefined;
  let reachedAt: PeerAddress | undefined;
  const connect = async (self: ReplicaSelf) => {
    const address = membership.peerAddress ?? recordedAddress(self);
    if (address === undefined) return undefined;
    const identity = await PeerIdentity.open({ directory: join(directory, "pki"), memberId: self.id, clock });
    peers = identity;
    reachedAt = address;
    network = connectPeers(self, { address, tls: () => identity.tls() });
    return network.transport;
  };
  const notice = replicaNotices(log, clock);
  const failure = Promise.withResolvers<Error>();
  const leaderListeners: (() => void)[] = [];
  const onEvent = (event: ReplicaEvent) => {
    if (event.kind === "leader" && event.leader !== undefined) metrics.leaderChanged();
    if (event.kind === "failed") {
      failure.resolve(new Error(`the store failed and takes no more writes: ${event.error.message}`));
    }
    if (event.kind === "removed") failure.resolve(new RemovedMemberError(directory));
    notice(event);
    if (event.kind === "leader") for (const listener of leaderListeners) listener();
  };
  const { observer } = metrics;
  const { store, cluster, source } = await openReplica({ directory, clock, connect, onEvent, observer }).catch(
    (error) => {
      throw listenFailure(error, membership.peerAddress);
    },
  );
  try {
    await quorum(store, log);
  } catch (error) {
    const { failure: failed } = store;
    await store.close();
    if (failed !== undefined) throw await failure.promise;
    throw error;
  }
  return {
    directory,
    store,
    cluster,
    source,
    onLeaderChanged: (listener) => void leaderListeners.push(listener),
    failed: failure.promise,
    peers() {
      if (peers !== undefined) return peers;
      throw aloneError();
    },
    keepFresh: (onError) => peers?.keepFresh(() => network?.reloadCertificates(), onError) ?? new DisposableStack(),
    peerAddress: reachedAt,
    async announce(port, gossip) {
      const known = cluster.members().find(({ id }) => id === cluster.self);
      const { peerId: _, gossipAddress: __, ...lasting } = known ?? {};
      const { name, isNamed, peerAddress } = membership;
      const record: MemberRecord = {
        ...lasting,
        id: cluster.self,
        name: isNamed ? name : (known?.name ?? name),
        peerAddress: peerAddress === undefined ? (known?.peerAddress ?? "") : peerAddressText(peerAddress),
        clientUrl: clientUrlOf(membership, port) ?? known?.clientUrl ?? "",
        ...gossip,
      };
      if (JSON.stringify(record) !== JSON.stringify(known)) await cluster.updateMember(record);
    },
  };
}

async function quorum(store: Store, log: Log): Promise<void> {
  let toldMs = performance.now();
  for (;;) {
    try {
      await store.readBarrier();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || store.failure !== undefined) throw error;
      if (performance.now() - toldMs < waitingNoticeMs) continue;
      toldMs = performance.now();
      log.warn("waiting for a quorum of the members", { reason: error.message });
    }
  }
}

function recordedAddress(self: ReplicaSelf) {
  const recorded = self.peerAddressOf(self.id) ?? "";
  return recorded === "" ? undefined : parsePeerAddress(recorded);
}

function listenFailure(error: unknown, address: { host: string; port: number } | undefined): unknown {
  const { code } = error as { code?: string };
  if (address === undefined || (code !== "EADDRINUSE" && code !== "EADDRNOTAVAIL" && code !== "EACCES")) return error;
  const text = peerAddressText(address);
  if (code === "EADDRINUSE")
    return new StartupError(`--peer-address: the port of ${text} is in use: stop the other process or choose another`);
  return new StartupError(`--peer-address: cannot listen on ${text} (${code}): give an address of this machine`);
}
