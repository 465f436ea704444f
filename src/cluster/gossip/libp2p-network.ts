import { isIP } from "node:net";
import type { GossipSub } from "@chainsafe/libp2p-gossipsub";
import { type PeerId as Libp2pPeerId, TopicValidatorResult } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import { multiaddr } from "@multiformats/multiaddr";
import { StartupError } from "../../process/startup-error.ts";
import type { PeerAddress } from "../member-address.ts";
import { Gate } from "./gate.ts";
import { createLibp2pNode, type Libp2pNode, scoreMin, topicName } from "./libp2p-node.ts";
import {
  type Contact,
  type DropReason,
  type GossipNetwork,
  type NetworkOptions,
  type Topic,
  topics,
} from "./network.ts";
import type { PeerId } from "./peer-id.ts";

export interface NetworkTiming {
  /** Interval of the connection upkeep. */
  readonly upkeepIntervalMs: number;
  /** Silence after which a connected peer is reconnected. */
  readonly silenceMs: number;
  /** Time after which the second side of a pair connects if the first one has not. */
  readonly patienceMs: number;
  /** Time that a peer is refused after it sent invalid messages. */
  readonly banMs: number;
  /** Time limit of an attempt to connect. */
  readonly dialTimeoutMs: number;
}

const defaultTiming: NetworkTiming = {
  upkeepIntervalMs: 1_000,
  silenceMs: 10_000,
  patienceMs: 10_000,
  banMs: 60_000,
  dialTimeoutMs: 5_000,
};

/** Opens gossip over libp2p. This file and its imports are loaded only in a cluster. */
export async function openLibp2pNetwork(
  options: NetworkOptions,
  timing: NetworkTiming = defaultTiming,
): Promise<GossipNetwork> {
  const gate = new Gate(options.onDropped, timing.banMs);
  const node = await createLibp2pNode(options, gate, timing.dialTimeoutMs);
  const network = new Libp2pNetwork(options, node, gate, timing);
  try {
    await node.start();
  } catch (error) {
    await node.stop();
    const { host, port } = options.listen;
    throw new StartupError(`gossip cannot listen on ${host} port ${port}: ${(error as Error).message}`);
  }
  network.start();
  return network;
}

interface Link {
  /** Time of the last change of state. */
  sinceMs: number;
  isConnected: boolean;
  heardMs: number;
}

class Libp2pNetwork implements GossipNetwork {
  readonly #options: NetworkOptions;
  readonly #node: Libp2pNode;
  readonly #gate: Gate;
  readonly #timing: NetworkTiming;
  readonly #topicNames: ReadonlyMap<Topic, string>;
  readonly #links = new Map<PeerId, Link>();
  readonly #dialing = new Map<PeerId, Promise<void>>();
  readonly #closing = new AbortController();
  #upkeep: Timer | undefined;

  constructor(options: NetworkOptions, node: Libp2pNode, gate: Gate, timing: NetworkTiming) {
    this.#options = options;
    this.#node = node;
    this.#gate = gate;
    this.#timing = timing;
    this.#topicNames = new Map(topics.map((topic) => [topic, topicName(options.clusterId, topic)]));
  }

  start(): void {
    for (const [topic, name] of this.#topicNames) {
      this.#gossip.topicValidators.set(name, (source, message) =>
        message.type === "signed"
          ? this.#judge(topic, source, message.from, message.data)
          : TopicValidatorResult.Reject,
      );
      this.#gossip.subscribe(name);
    }
    this.#upkeep = setInterval(() => this.#maintain(), this.#timing.upkeepIntervalMs);
    this.#upkeep.unref();
  }

  get #gossip(): GossipSub {
    return this.#node.services.gossip;
  }

  get address(): PeerAddress {
    const { host, port } = this.#options.listen;
    const [listening] = this.#node.getMultiaddrs();
    return { host, port: listening?.nodeAddress().port ?? port };
  }

  admit(contacts: readonly Contact[]): void {
    const gate = this.#gate;
    gate.admit(contacts);
    for (const connection of this.#node.getConnections()) {
      if (gate.contact(connection.remotePeer.toString()) === undefined)
        connection.abort(new Error("the peer is not a member"));
    }
    for (const peerId of this.#links.keys()) {
      if (gate.contact(peerId) !== undefined) continue;
      this.#links.delete(peerId);
      void this.#node.peerStore.delete(peerIdFromString(peerId)).catch(ignore);
    }
    const nowMs = performance.now();
    for (const { peerId } of contacts) {
      if (this.#links.has(peerId)) continue;
      this.#links.set(peerId, { sinceMs: nowMs, isConnected: false, heardMs: nowMs });
      this.#maintainLink(peerId, nowMs);
    }
  }

  publish(topic: Topic, message: Uint8Array): void {
    if (this.#closing.signal.aborted) return;
    // Publishing fails if no peer takes the message. The author cannot change that.
    void this.#gossip.publish(this.#topicNames.get(topic) as string, message).catch(ignore);
  }

  async close(): Promise<void> {
    clearInterval(this.#upkeep);
    this.#closing.abort();
    await Promise.all(this.#dialing.values());
    await this.#node.stop();
  }

  #judge(topic: Topic, source: Libp2pPeerId, from: Libp2pPeerId, message: Uint8Array): TopicValidatorResult {
    const author = from.toString();
    const link = this.#links.get(author);
    if (link !== undefined) link.heardMs = performance.now();
    const reason = this.#options.onMessage(topic, author, message);
    if (reason === undefined) return TopicValidatorResult.Accept;
    this.#options.onDropped(reason);
    return isSourceToBlame(reason, source.toString() === author)
      ? TopicValidatorResult.Reject
      : TopicValidatorResult.Ignore;
  }

  #maintain(): void {
    const nowMs = performance.now();
    for (const peerId of this.#links.keys()) this.#maintainLink(peerId, nowMs);
  }

  #maintainLink(peerId: PeerId, nowMs: number): void {
    const link = this.#links.get(peerId);
    if (link === undefined || this.#gate.isBanned(peerId)) return;
    const connections = this.#node.getConnections(peerIdFromString(peerId));
    const isConnected = connections.length > 0;
    if (isConnected !== link.isConnected) Object.assign(link, { isConnected, sinceMs: nowMs });
    const unchangedMs = nowMs - link.sinceMs;
    const { patienceMs, silenceMs } = this.#timing;
    if (!isConnected) {
      const isFirst = this.#options.identity.peerId < peerId;
      if (isFirst || unchangedMs > patienceMs) this.#dial(peerId);
      return;
    }
    const isTooBad = this.#gossip.getScore(peerId) <= scoreMin;
    if (isTooBad) this.#gate.ban(peerId);
    // A stream can be dead on a live connection, so the connection is good only if messages arrive.
    const isDeaf = unchangedMs > silenceMs && nowMs - link.heardMs > silenceMs;
    if (isTooBad || isDeaf) {
      for (const connection of connections) connection.abort(new Error(isTooBad ? "it is banned" : "it is silent"));
    }
  }

  #dial(peerId: PeerId): void {
    const contact = this.#gate.contact(peerId);
    if (contact === undefined || this.#dialing.has(peerId) || this.#closing.signal.aborted) return;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#timing.dialTimeoutMs)]);
    const dialing = this.#node
      .dial(multiaddr(dialAddress(contact)), { signal })
      .then(ignore, ignore)
      .finally(() => this.#dialing.delete(peerId));
    this.#dialing.set(peerId, dialing);
  }
}

function dialAddress({ peerId, address: { host, port } }: Contact): string {
  const kind = { 0: "dns", 4: "ip4", 6: "ip6" }[isIP(host) as 0 | 4 | 6];
  return `/${kind}/${host}/tcp/${port}/p2p/${peerId}`;
}

/**
 * Reports whether the forwarding peer is to blame. It should have noticed an invalid message, but cannot know whether a
 * message is old or from a removed member.
 */
function isSourceToBlame(reason: DropReason, isAuthor: boolean): boolean {
  if (reason === "malformed" || reason === "forged") return true;
  return reason === "flood" && isAuthor;
}

/** Ignores an error. Peers come and go, and the next upkeep tries again. */
function ignore(): void {}
