import type { MemberId } from "../core/ids.ts";
import type { InstallSnapshot, Message } from "../core/message.ts";

/**
 * Carries messages between members. It may lose any message; it reports the loss, and the core repeats important
 * messages. It never waits: a message that cannot be handed to the network at once is dropped. A proposal arrives at
 * most once, because the core cannot tell a second copy from a second proposal. For other messages the core tolerates
 * copies, even late ones.
 */
export interface Transport {
  /** Starts to receive and to connect. Called once. */
  start(events: TransportEvents): Promise<void>;
  /**
   * Sets the current members. Closes connections to others, and tells former members that they were removed. A member
   * that is not named yet may be accepted (`MayHaveJoined`) and then receives its messages.
   */
  setMembers(members: readonly MemberId[]): void;
  /** Sends messages, in order for each receiver and lane. Heartbeats, votes and replies overtake entries. */
  send(messages: readonly Message[]): void;
  /**
   * Streams a snapshot beside the messages. Resolves when the receiver has installed it.
   * @param chunks of any size; read no faster than the receiver takes them
   */
  sendSnapshot(message: InstallSnapshot, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** Returns the number of bytes waiting for a member. */
  queuedBytes?(member: MemberId): number;
  close(): Promise<void>;
}

export interface TransportEvents {
  /** Receives a message from a member that proved its identity with its certificate. */
  receive(message: Message): void;
  /**
   * Receives a snapshot. Resolves when the state machine has it durably; an error reaches the sender.
   * @param chunks end only when everything has arrived and been verified; they throw when the stream breaks permanently
   */
  receiveSnapshot(message: InstallSnapshot, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  dropped(message: Message, reason: DropReason): void;
  /** Reports that an open connection broke, so messages sent on it may be lost. */
  disconnected(member: MemberId): void;
  /**
   * Reports that the last connection with a member broke, in either direction: its process or the network failed. It is
   * only a hint.
   */
  gone?(member: MemberId): void;
  /**
   * Reports a violation of the protocol; the connection was closed. The member is unknown if it had not identified
   * itself yet.
   */
  violated(member: MemberId | undefined, violation: Error): void;
  /**
   * Reports that another member refuses this one, or the reverse. `removed` is only reported when the other refuses, and
   * is final for this member.
   */
  refused(member: MemberId, refusal: HandshakeRefusal): void;
}

/** - `notConnected`: not connected (yet). - `queueFull`: the receiver does not keep up. - `unknown`: not a member. */
export type DropReason = "notConnected" | "queueFull" | "unknown";

/**
 * - `version`, `wrongCluster`, `wrongMember`: the connection reached the wrong peer.
 * - `certificate`: the certificate does not belong to the member that presents it.
 * - `unknown`: not a member here (yet). `removed`: not a member any more.
 * - `twin`: another process speaks for this member, or did so with a newer state of its directory.
 */
export type HandshakeRefusal =
  | "version"
  | "wrongCluster"
  | "wrongMember"
  | "certificate"
  | "unknown"
  | "removed"
  | "twin";
