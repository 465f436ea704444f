import type { MemberNumber } from "../../storage/cluster.ts";
import type { PeerId } from "./peer-id.ts";

/**
 * Optional information exchanged between replicas. Every message is a hint: it may be old, missing or false, and no
 * guarantee to clients depends on it.
 */
export interface Gossip extends AsyncDisposable {
  /** Returns the latest health of the other members, by number. Omits members that were never heard from. */
  peers(): ReadonlyMap<MemberNumber, PeerHealth>;
  /** Sends this replica's health at once, without waiting for the next heartbeat. */
  announce(): void;
  /** Tells the others that cached answers of this kind may be wrong now. */
  invalidate(subject: InvalidationSubject): void;
  /**
   * Adds a listener for invalidations. An invalidation is only a reason to forget, and comes at most once per
   * `invalidationIntervalMs` for each kind.
   */
  onInvalidate(listener: (subject: InvalidationSubject) => void): Disposable;
  /** Stops gossip. Resolves when nothing of it runs any more. */
  close(): Promise<void>;
}

/** The health that a replica reports. Revisions and indexes are its own at the time of the heartbeat. */
export interface ReplicaHealth {
  readonly revision: number;
  readonly appliedIndex: number;
  /** Whether `/readyz` passes. */
  readonly ready: boolean;
  /** Names of the failing checks of `/readyz`. */
  readonly failing: readonly string[];
  readonly term: number;
  /** Leader of that term, as the replica sees it. */
  readonly leader: MemberNumber | undefined;
  /** Addresses of its API as `https://host:port`. */
  readonly endpoints: readonly string[];
  /** Version of the program. */
  readonly release: string;
}

/** The latest report of another member. */
export interface PeerHealth extends ReplicaHealth {
  /** Time since a message from it arrived. */
  readonly ageMs: number;
  /** Whether it was silent for longer than `staleMs`, so that its report is too old for decisions. */
  readonly isStale: boolean;
}

/** A member with a gossip address. */
export interface GossipMember {
  readonly id: MemberNumber;
  readonly peerId: PeerId;
  /** Gossip address as `host:port`. */
  readonly gossipAddress: string;
}

export const heartbeatIntervalMs = 1_000;
/** Silence after which a report is stale: five missed heartbeats. */
export const staleMs = 5_000;
/** Minimum intervals between announcements and between invalidations, however often a replica asks for them. */
export const announceIntervalMs = 100;
export const invalidationIntervalMs = 1_000;

/**
 * Outside information that a replica caches: the keys of token issuers. Webhook answers are cached for as long as the
 * operator configures. All other decisions about requests follow the replicated state.
 */
export const invalidationSubjects = ["issuerKeys"] as const;
export type InvalidationSubject = (typeof invalidationSubjects)[number];

const nothing: Disposable = { [Symbol.dispose]() {} };

/** Gossip that is turned off. */
export const noGossip: Gossip = {
  peers: () => new Map(),
  announce() {},
  invalidate() {},
  onInvalidate: () => nothing,
  async close() {},
  async [Symbol.asyncDispose]() {},
};
