import type { PeerAddress } from "../member-address.ts";
import type { GossipIdentity } from "./gossip-identity.ts";
import type { PeerId } from "./peer-id.ts";

/** A member that may connect, and its address. */
export interface Contact {
  readonly peerId: PeerId;
  readonly address: PeerAddress;
}

export const topics = ["heartbeat", "invalidation"] as const;
export type Topic = (typeof topics)[number];

/** Reasons to drop a connection or a message. Each case is counted. */
export const dropReasons = [
  /** The sender of a connection or a forwarded message is not a member. */
  "stranger",
  /** Signed by one member in the name of another. */
  "forged",
  "malformed",
  /** Not newer than an earlier message. */
  "replayed",
  /** More messages than an author may send. */
  "flood",
  /** The peer sent too many invalid messages and is ignored for a while. */
  "banned",
] as const;
export type DropReason = (typeof dropReasons)[number];

export interface NetworkOptions {
  readonly clusterId: string;
  readonly identity: GossipIdentity;
  /** The address to listen on. For a name, all addresses. */
  readonly listen: PeerAddress;
  /**
   * Checks a message that `author` has signed, whichever peer forwarded it. Returns a reason to drop it, or `undefined`
   * to forward it to others.
   */
  readonly onMessage: (topic: Topic, author: PeerId, message: Uint8Array) => DropReason | undefined;
  readonly onDropped: (reason: DropReason) => void;
}

/** Signed messages between members, over any number of hops. Delivery is likely but never certain. */
export interface GossipNetwork {
  /** Listening address, with the port that was chosen for port 0. */
  readonly address: PeerAddress;
  /** Replaces the list of peers that may connect. */
  admit(contacts: readonly Contact[]): void;
  publish(topic: Topic, message: Uint8Array): void;
  close(): Promise<void>;
}

/** Opens the network. @throws StartupError when the address cannot be listened on */
export type OpenNetwork = (options: NetworkOptions) => Promise<GossipNetwork>;
