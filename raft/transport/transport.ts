import type { MemberId } from "../core/ids.ts";
import type { InstallSnapshot, Message } from "../core/message.ts";

/**
 * Carries messages between members, and may lose any of them: then it says so, and the core sends again what matters.
 * Nothing waits: a message that cannot be handed to the network at once is dropped. A proposal arrives at most once: the
 * core cannot tell a second copy from a second proposal. Of everything else it does not mind copies, late ones included.
 */
export interface Transport {
  /** Begins to receive and to connect. Called once. */
  start(events: TransportEvents): Promise<void>;
  /**
   * Who takes part now. Connections to others are closed; those who took part earlier are told that they were removed. One
   * that is not named yet may be heard (`MayHaveJoined`), and is then sent what is for it.
   */
  setMembers(members: readonly MemberId[]): void;
  /** In order for each receiver and lane; heartbeats, votes and replies overtake entries. */
  send(messages: readonly Message[]): void;
  /**
   * Streams a snapshot beside the messages. Resolves when the receiver has installed it.
   * @param chunks of any size; read no faster than the receiver takes them
   */
  sendSnapshot(message: InstallSnapshot, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  /** What waits to go to a member, in bytes. */
  queuedBytes?(member: MemberId): number;
  close(): Promise<void>;
}

export interface TransportEvents {
  /** From a member, as its certificate proves; addressed to this one. */
  receive(message: Message): void;
  /**
   * A snapshot comes in. Resolves when the state machine has it durably; what it throws reaches the sender.
   * @param chunks end only when all has arrived and been verified; they throw when the stream breaks for good
   */
  receiveSnapshot(message: InstallSnapshot, chunks: AsyncIterable<Uint8Array>): Promise<void>;
  dropped(message: Message, reason: DropReason): void;
  /** A connection that was open broke: what was sent on it may be lost. */
  disconnected(member: MemberId): void;
  /**
   * The last of the connections with a member broke, in either direction: its process has ended, or the network has. A
   * hint and no more.
   */
  gone?(member: MemberId): void;
  /** Something came in that is not of the protocol; its connection was closed. Unknown who: it had not said so yet. */
  violated(member: MemberId | undefined, violation: Error): void;
  /** Another member does not talk to us, or we not to it. `removed` is final for this member. */
  refused(member: MemberId, refusal: HandshakeRefusal): void;
}

/** - `notConnected`: there is no connection (yet). - `queueFull`: the receiver does not keep up. - `unknown`: no member. */
export type DropReason = "notConnected" | "queueFull" | "unknown";

/**
 * - `version`, `wrongCluster`, `wrongMember`: the two do not mean each other.
 * - `certificate`: the certificate is not that of the member it speaks for.
 * - `unknown`: not a member here (yet). `removed`: not any more.
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
