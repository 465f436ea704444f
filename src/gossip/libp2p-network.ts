import { isIP, type Socket } from "node:net";
import { type GossipSub, type GossipSubComponents, gossipsub } from "@chainsafe/libp2p-gossipsub";
import { createTopicScoreParams } from "@chainsafe/libp2p-gossipsub/score";
import { noise } from "@chainsafe/libp2p-noise";
import { yamux } from "@chainsafe/libp2p-yamux";
import { privateKeyFromRaw } from "@libp2p/crypto/keys";
import { identify } from "@libp2p/identify";
import { type Libp2p, type PeerId as Libp2pPeerId, TopicValidatorResult, type Transport } from "@libp2p/interface";
import { peerIdFromString } from "@libp2p/peer-id";
import { type TCPComponents, tcp } from "@libp2p/tcp";
import { type Multiaddr, multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import type { PeerAddress } from "../cluster/member-address.ts";
import { StartupError } from "../config/startup-error.ts";
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
  /** How often connections are looked after. */
  readonly upkeepIntervalMs: number;
  /** A peer that is connected and says nothing for so long is connected with anew. */
  readonly silenceMs: number;
  /** One side of a pair connects; the other one only when nobody has for so long. */
  readonly patienceMs: number;
  /** Somebody who sends what is invalid is refused for so long. */
  readonly banMs: number;
  /** An attempt to connect is given up after so long. */
  readonly dialTimeoutMs: number;
}

const defaultTiming: NetworkTiming = {
  upkeepIntervalMs: 1_000,
  silenceMs: 10_000,
  patienceMs: 10_000,
  banMs: 60_000,
  dialTimeoutMs: 5_000,
};

const connectionsMax = 64;
const pendingConnectionsMax = 16;
const connectionsPerSecondMax = 20;
/** From the first byte to a proven peer id. */
const handshakeTimeoutMs = 3_000;
const streamsPerConnectionMax = 16;
const streamWindowBytes = 256 * 1_024;
const frameBytesMax = 64 * 1_024;
const outboundBacklogBytesMax = 256 * 1_024;
const seenMs = 30_000;

/** The ten-fold of what a frame of a well-meaning peer holds. */
const frameLimits = {
  maxSubscriptions: 16,
  maxMessages: 64,
  maxIhaveMessageIDs: 64,
  maxIwantMessageIDs: 64,
  maxIdontwantMessageIDs: 64,
  maxControlMessages: 64,
  maxPeerInfos: 16,
};

/** The score of a peer falls with the square of the invalid messages that it sent in about the last ten seconds: nine are too many. */
const scoreMin = -80;
const invalidMessageWeight = -1;
const invalidMessageDecay = 0.8;

type Node = Libp2p<{ identify: unknown; gossip: GossipSub }>;

/**
 * Gossip over libp2p: TCP, Noise, yamux, gossipsub with signed messages. Both ends of a connection have proven their key
 * and that they mean the same cluster before anything else is said; then the gate lets only members through.
 */
export async function openLibp2pNetwork(
  options: NetworkOptions,
  timing: NetworkTiming = defaultTiming,
): Promise<GossipNetwork> {
  const gate = new Gate(options.onDropped, timing.banMs);
  const node = await createNode(options, gate, timing);
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

async function createNode(
  { clusterId, identity, listen }: NetworkOptions,
  gate: Gate,
  { dialTimeoutMs }: NetworkTiming,
): Promise<Node> {
  const subjects = topics.map((topic) => topicName(clusterId, topic));
  const topicScores = subjects.map((subject) => [subject, topicScore] as const);
  return await createLibp2p({
    start: false,
    privateKey: privateKeyFromRaw(identity.privateKey),
    addresses: { listen: [`${listenAddress(listen)}/tcp/${listen.port}`] },
    nodeInfo: { userAgent: "quorate" },
    transports: [tcpTransport],
    // The prologue is mixed into the keys: a handshake with another cluster fails.
    connectionEncrypters: [noise({ prologueBytes: new TextEncoder().encode(`quorate/gossip/1/${clusterId}`) })],
    streamMuxers: [
      yamux({
        maxInboundStreams: streamsPerConnectionMax,
        maxOutboundStreams: streamsPerConnectionMax,
        maxStreamWindowSize: streamWindowBytes,
      }),
    ],
    connectionGater: {
      denyInboundEncryptedConnection: (peer) => gate.refuses(peer.toString()),
      denyOutboundEncryptedConnection: (peer) => gate.refuses(peer.toString()),
    },
    connectionManager: {
      maxConnections: connectionsMax,
      maxParallelDials: pendingConnectionsMax,
      maxDialQueueLength: connectionsMax,
      maxIncomingPendingConnections: pendingConnectionsMax,
      inboundConnectionThreshold: connectionsPerSecondMax,
      inboundUpgradeTimeout: handshakeTimeoutMs,
      dialTimeout: dialTimeoutMs,
      reconnectRetries: 0,
    },
    // Heartbeats tell whether a peer is there.
    connectionMonitor: { enabled: false },
    services: {
      identify: identify(),
      gossip: gossipsub({
        globalSignaturePolicy: "StrictSign",
        allowedTopics: subjects,
        allowPublishToZeroTopicPeers: true,
        fallbackToFloodsub: false,
        floodPublish: true,
        seenTTL: seenMs,
        awaitRpcHandler: true,
        awaitRpcMessageHandler: true,
        maxInboundStreams: 2,
        maxOutboundStreams: 2,
        maxInboundDataLength: frameBytesMax,
        maxOutboundBufferSize: outboundBacklogBytesMax,
        decodeRpcLimits: frameLimits,
        // Replicas that share an address are no attack.
        scoreParams: { topics: Object.fromEntries(topicScores), IPColocationFactorWeight: 0 },
        scoreThresholds: { gossipThreshold: -20, publishThreshold: -40, graylistThreshold: scoreMin },
      }) as (components: GossipSubComponents) => GossipSub,
    },
  });
}

/**
 * TCP, whose sockets do not know of the signal that ends an attempt to connect. A socket that does emits an error when
 * nobody listens for it any more, which would end the process; the transport destroys the socket itself.
 */
function tcpTransport(components: TCPComponents): Transport {
  const transport = tcp({ backlog: connectionsMax, dialOpts: { noDelay: true }, listenOpts: { noDelay: true } })(
    components,
  ) as Transport & { _connect(address: Multiaddr, options: object): Promise<Socket> };
  const connect = transport._connect.bind(transport);
  // What is inherited can be read, and is not among what is copied into the options of the socket.
  transport._connect = (address, options) => connect(address, Object.create(options) as object);
  return transport;
}

const topicScore = createTopicScoreParams({
  topicWeight: 1,
  timeInMeshWeight: 0,
  firstMessageDeliveriesWeight: 0,
  meshMessageDeliveriesWeight: 0,
  meshFailurePenaltyWeight: 0,
  invalidMessageDeliveriesWeight: invalidMessageWeight,
  invalidMessageDeliveriesDecay: invalidMessageDecay,
});

function topicName(clusterId: string, topic: Topic): string {
  return `/quorate/gossip/1/${clusterId}/${topic}`;
}

function listenAddress({ host }: PeerAddress): string {
  if (isIP(host) === 0) return "/ip4/0.0.0.0";
  return isIP(host) === 6 ? `/ip6/${host}` : `/ip4/${host}`;
}

function dialAddress({ peerId, address: { host, port } }: Contact): string {
  const kind = { 0: "dns", 4: "ip4", 6: "ip6" }[isIP(host) as 0 | 4 | 6];
  return `/${kind}/${host}/tcp/${port}/p2p/${peerId}`;
}

/** Who may be connected with. */
class Gate {
  readonly #onDropped: (reason: DropReason) => void;
  readonly #banMs: number;
  readonly #bannedUntilMs = new Map<PeerId, number>();
  contacts: ReadonlyMap<PeerId, Contact> = new Map();

  constructor(onDropped: (reason: DropReason) => void, banMs: number) {
    this.#onDropped = onDropped;
    this.#banMs = banMs;
  }

  ban(peerId: PeerId): void {
    this.#onDropped("banned");
    this.#bannedUntilMs.set(peerId, performance.now() + this.#banMs);
  }

  isBanned(peerId: PeerId): boolean {
    const untilMs = this.#bannedUntilMs.get(peerId) ?? 0;
    if (untilMs > performance.now()) return true;
    this.#bannedUntilMs.delete(peerId);
    return false;
  }

  refuses(peerId: PeerId): boolean {
    if (this.contacts.has(peerId) && !this.isBanned(peerId)) return false;
    this.#onDropped(this.contacts.has(peerId) ? "banned" : "stranger");
    return true;
  }
}

interface Link {
  /** Since when it is as it is now. */
  sinceMs: number;
  isConnected: boolean;
  heardMs: number;
}

class Libp2pNetwork implements GossipNetwork {
  readonly #options: NetworkOptions;
  readonly #node: Node;
  readonly #gate: Gate;
  readonly #timing: NetworkTiming;
  readonly #topicNames: ReadonlyMap<Topic, string>;
  readonly #links = new Map<PeerId, Link>();
  readonly #dialing = new Map<PeerId, Promise<void>>();
  readonly #closing = new AbortController();
  #upkeep: Timer | undefined;

  constructor(options: NetworkOptions, node: Node, gate: Gate, timing: NetworkTiming) {
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
    const admitted = new Map(contacts.map((contact) => [contact.peerId, contact]));
    this.#gate.contacts = admitted;
    for (const connection of this.#node.getConnections()) {
      if (!admitted.has(connection.remotePeer.toString())) connection.abort(new Error("it is no member"));
    }
    for (const peerId of this.#links.keys()) {
      if (admitted.has(peerId)) continue;
      this.#links.delete(peerId);
      void this.#node.peerStore.delete(peerIdFromString(peerId)).catch(ignore);
    }
    const nowMs = performance.now();
    for (const peerId of admitted.keys()) {
      if (this.#links.has(peerId)) continue;
      this.#links.set(peerId, { sinceMs: nowMs, isConnected: false, heardMs: nowMs });
      this.#maintainLink(peerId, nowMs);
    }
  }

  publish(topic: Topic, message: Uint8Array): void {
    if (this.#closing.signal.aborted) return;
    // It fails when nobody takes it, which is not for the author to mend.
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
    // A stream can be dead on a connection that is alive: what counts is whether the peer is heard.
    const isDeaf = unchangedMs > silenceMs && nowMs - link.heardMs > silenceMs;
    if (isTooBad || isDeaf) {
      for (const connection of connections) connection.abort(new Error(isTooBad ? "it is banned" : "it is silent"));
    }
  }

  #dial(peerId: PeerId): void {
    const contact = this.#gate.contacts.get(peerId);
    if (contact === undefined || this.#dialing.has(peerId) || this.#closing.signal.aborted) return;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#timing.dialTimeoutMs)]);
    const dialing = this.#node
      .dial(multiaddr(dialAddress(contact)), { signal })
      .then(ignore, ignore)
      .finally(() => this.#dialing.delete(peerId));
    this.#dialing.set(peerId, dialing);
  }
}

/** Who passed a message on had to see that it is invalid, but cannot know whether it is old, or of somebody removed. */
function isSourceToBlame(reason: DropReason, isAuthor: boolean): boolean {
  if (reason === "malformed" || reason === "forged") return true;
  return reason === "flood" && isAuthor;
}

/** Peers come and go; the next upkeep tries again. */
function ignore(): void {}
