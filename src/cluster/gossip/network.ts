import type { PeerAddress } from "../member-address.ts";
import type { GossipIdentity } from "./gossip-identity.ts";
import type { PeerId } from "./peer-id.ts";

/** A member that may be spoken with, and where it listens. */
export interface Contact {
  readonly peerId: PeerId;
  readonly address: PeerAddress;
}

export const topics = ["heartbeat", "invalidation"] as const;
export type Topic = (typeof topics)[number];

/** Why somebody or something that came was not let in. Every case is counted. */
export const dropReasons = [
  /** Not of a member: a connection, or a message that a member passed on. */
  "stranger",
  /** Signed by one member in the name of another. */
  "forged",
  "malformed",
  /** Not newer than what was heard before. */
  "replayed",
  /** More of one author than it may say. */
  "flood",
  /** Of a peer that sent too much that was invalid: not listened to for a while. */
  "banned",
] as const;
export type DropReason = (typeof dropReasons)[number];

export interface NetworkOptions {
  readonly clusterId: string;
  readonly identity: GossipIdentity;
  /** A name instead of an address: on all addresses. */
  readonly listen: PeerAddress;
  /**
   * Judges a message that `author` has signed, whoever passed it on. Only a message that is good for something is passed on
   * to others: `undefined`, not a reason to drop it.
   */
  readonly onMessage: (topic: Topic, author: PeerId, message: Uint8Array) => DropReason | undefined;
  readonly onDropped: (reason: DropReason) => void;
}

/** Signed messages between members, over any number of hops. Delivery is likely and never certain. */
export interface GossipNetwork {
  /** Where it listens, with the port that was chosen for port 0. */
  readonly address: PeerAddress;
  /** From now on these, and nobody else, are connected with. */
  admit(contacts: readonly Contact[]): void;
  publish(topic: Topic, message: Uint8Array): void;
  close(): Promise<void>;
}

/** @throws StartupError when the address cannot be listened on */
export type OpenNetwork = (options: NetworkOptions) => Promise<GossipNetwork>;
