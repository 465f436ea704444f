import type { MemberNumber } from "../../storage/cluster.ts";
import type { PeerId } from "./peer-id.ts";

/**
 * What replicas tell each other besides what must be true. Everything heard here is a hint: it may be old, missing or a
 * lie, and nothing that a client can rely on follows from it.
 */
export interface Gossip extends AsyncDisposable {
  /** What the other members said of themselves last, by number. Who was never heard, or is no member, is not in it. */
  peers(): ReadonlyMap<MemberNumber, PeerHealth>;
  /** Tells the others what this replica's health is now, instead of with the next heartbeat. */
  announce(): void;
  /** Tells the others that kept answers of this kind may be wrong now. */
  invalidate(subject: InvalidationSubject): void;
  /** Hears of such answers. Only ever a reason to forget, and for each kind not more often than `invalidationIntervalMs`. */
  onInvalidate(listener: (subject: InvalidationSubject) => void): Disposable;
  /** Nothing of it runs when this resolves. */
  close(): Promise<void>;
}

/** What a replica says of itself. Revisions and indexes are its own at the time of the heartbeat. */
export interface ReplicaHealth {
  readonly revision: number;
  readonly appliedIndex: number;
  /** Whether `/readyz` passes. */
  readonly ready: boolean;
  /** Names of the checks of `/readyz` that fail. */
  readonly failing: readonly string[];
  readonly term: number;
  /** Whom it takes for the leader of that term. */
  readonly leader: MemberNumber | undefined;
  /** `https://host:port`, where its API is served. */
  readonly endpoints: readonly string[];
  /** The version of the program. */
  readonly release: string;
}

/** What another member said of itself last. */
export interface PeerHealth extends ReplicaHealth {
  /** Time since it was heard. */
  readonly ageMs: number;
  /** Nothing was heard of it for longer than `staleMs`: what it said is of no use for a choice. */
  readonly isStale: boolean;
}

/** A member that can be spoken with. */
export interface GossipMember {
  readonly id: MemberNumber;
  readonly peerId: PeerId;
  /** `host:port` where it listens for gossip. */
  readonly gossipAddress: string;
}

export const heartbeatIntervalMs = 1_000;
/** Five missed heartbeats are a silence. */
export const staleMs = 5_000;
/** However often a replica announces or invalidates, others hear of it once in such a time. */
export const announceIntervalMs = 100;
export const invalidationIntervalMs = 1_000;

/**
 * Answers of others that a replica keeps for a time: the keys of token issuers. Those of webhooks are kept for as long as
 * the operator says; all else that decides about requests follows the replicated state.
 */
export const invalidationSubjects = ["issuerKeys"] as const;
export type InvalidationSubject = (typeof invalidationSubjects)[number];

const nothing: Disposable = { [Symbol.dispose]() {} };

/** Where gossip is off. */
export const noGossip: Gossip = {
  peers: () => new Map(),
  announce() {},
  invalidate() {},
  onInvalidate: () => nothing,
  async close() {},
  async [Symbol.asyncDispose]() {},
};
