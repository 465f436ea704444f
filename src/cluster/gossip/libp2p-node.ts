import { isIP } from "node:net";
import { type GossipSub, type GossipSubComponents, gossipsub } from "@chainsafe/libp2p-gossipsub";
import { createTopicScoreParams } from "@chainsafe/libp2p-gossipsub/score";
import { noise } from "@chainsafe/libp2p-noise";
import { yamux } from "@chainsafe/libp2p-yamux";
import { privateKeyFromRaw } from "@libp2p/crypto/keys";
import { identify } from "@libp2p/identify";
import type { Libp2p } from "@libp2p/interface";
import { createLibp2p } from "libp2p";
import type { PeerAddress } from "../member-address.ts";
import type { Gate } from "./gate.ts";
import { type NetworkOptions, type Topic, topics } from "./network.ts";
import { tcpTransport } from "./tcp-transport.ts";

const connectionsMax = 64;
const pendingConnectionsMax = 16;
const connectionsPerSecondMax = 20;
/** Time from the first byte to a proven peer id. */
const handshakeTimeoutMs = 3_000;
const streamsPerConnectionMax = 16;
const streamWindowBytes = 256 * 1_024;
const frameBytesMax = 64 * 1_024;
const outboundBacklogBytesMax = 256 * 1_024;
const seenMs = 30_000;

/** Limits of a frame: ten times what a well-behaved peer sends. */
const frameLimits = {
  maxSubscriptions: 16,
  maxMessages: 64,
  maxIhaveMessageIDs: 64,
  maxIwantMessageIDs: 64,
  maxIdontwantMessageIDs: 64,
  maxControlMessages: 64,
  maxPeerInfos: 16,
};

/**
 * Lowest score of a peer. The score falls with the square of the invalid messages in about the last ten seconds; nine
 * are too many.
 */
export const scoreMin = -80;
const invalidMessageWeight = -1;
const invalidMessageDecay = 0.8;

export type Libp2pNode = Libp2p<{ identify: unknown; gossip: GossipSub }>;

/**
 * Creates a node without starting it: TCP, Noise, yamux, and gossipsub with signed messages. Both ends of a connection
 * prove their key and their cluster before any other message. Then the gate admits members only.
 */
export async function createLibp2pNode(
  { clusterId, identity, listen }: NetworkOptions,
  gate: Gate,
  dialTimeoutMs: number,
): Promise<Libp2pNode> {
  const subjects = topics.map((topic) => topicName(clusterId, topic));
  const topicScores = subjects.map((subject) => [subject, topicScore] as const);
  return await createLibp2p({
    start: false,
    privateKey: privateKeyFromRaw(identity.privateKey),
    addresses: { listen: [`${listenAddress(listen)}/tcp/${listen.port}`] },
    nodeInfo: { userAgent: "quorate" },
    transports: [tcpTransport],
    // The prologue is mixed into the keys, so a handshake with another cluster fails.
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
    // Heartbeats already show whether a peer is alive.
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
        // Replicas that share an address are not an attack.
        scoreParams: { topics: Object.fromEntries(topicScores), IPColocationFactorWeight: 0 },
        scoreThresholds: { gossipThreshold: -20, publishThreshold: -40, graylistThreshold: scoreMin },
      }) as (components: GossipSubComponents) => GossipSub,
    },
  });
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

export function topicName(clusterId: string, topic: Topic): string {
  return `/quorate/gossip/1/${clusterId}/${topic}`;
}

function listenAddress({ host }: PeerAddress): string {
  if (isIP(host) === 0) return "/ip4/0.0.0.0";
  return isIP(host) === 6 ? `/ip6/${host}` : `/ip4/${host}`;
}
