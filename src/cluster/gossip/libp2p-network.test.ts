import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { type GossipSub, type GossipSubComponents, gossipsub } from "@chainsafe/libp2p-gossipsub";
import { noise } from "@chainsafe/libp2p-noise";
import { yamux } from "@chainsafe/libp2p-yamux";
import { privateKeyFromRaw } from "@libp2p/crypto/keys";
import { identify } from "@libp2p/identify";
import { tcp } from "@libp2p/tcp";
import { multiaddr } from "@multiformats/multiaddr";
import { createLibp2p } from "libp2p";
import { type GossipIdentity, openGossipIdentity } from "./gossip-identity.ts";
import { type NetworkTiming, openLibp2pNetwork } from "./libp2p-network.ts";
import type { Contact, DropReason, GossipNetwork, NetworkOptions, Topic } from "./network.ts";
import type { PeerId } from "./peer-id.ts";

const loopback = "127.0.0.1";
const clusterId = "0a1b2c3d";
const encoder = new TextEncoder();

let opened = new AsyncDisposableStack();
afterEach(async () => {
  const toClose = opened;
  opened = new AsyncDisposableStack();
  await toClose.disposeAsync();
});

/** One end of a network, with its received and dropped messages. */
class Peer {
  readonly identity: GossipIdentity;
  readonly heard: { readonly topic: Topic; readonly author: PeerId; readonly text: string }[] = [];
  readonly dropped: DropReason[] = [];
  verdict: (text: string) => DropReason | undefined = () => undefined;
  network!: GossipNetwork;

  constructor(identity: GossipIdentity) {
    this.identity = identity;
  }

  async open(options: Partial<NetworkOptions>, timing?: NetworkTiming): Promise<this> {
    const defaults: NetworkOptions = {
      clusterId,
      identity: this.identity,
      listen: { host: loopback, port: 0 },
      onMessage: (topic, author, message) => {
        const text = new TextDecoder().decode(message);
        this.heard.push({ topic, author, text });
        return this.verdict(text);
      },
      onDropped: (reason) => this.dropped.push(reason),
    };
    this.network = await openLibp2pNetwork({ ...defaults, ...options }, timing);
    opened.defer(() => this.network.close());
    return this;
  }

  get contact(): Contact {
    return { peerId: this.identity.peerId, address: this.network.address };
  }

  say(text: string, topic: Topic = "heartbeat"): void {
    this.network.publish(topic, encoder.encode(text));
  }

  hasHeard(text: string, author?: Peer): boolean {
    return this.heard.some(
      (message) => message.text === text && (author?.identity.peerId ?? message.author) === message.author,
    );
  }
}

async function openPeer(options: Partial<NetworkOptions> = {}, timing?: NetworkTiming): Promise<Peer> {
  const identity = options.identity ?? (await openGossipIdentity(undefined, Date.now()));
  return await new Peer(identity).open(options, timing);
}

/** Opens peers in the order of their ids. The first one of each pair connects. */
async function openPeers(count: number): Promise<Peer[]> {
  const peers = await Promise.all(Array.from({ length: count }, () => openPeer()));
  return peers.sort((a, b) => (a.identity.peerId < b.identity.peerId ? -1 : 1));
}

function acquaint(...peers: Peer[]): void {
  const contacts = peers.map(({ contact }) => contact);
  for (const peer of peers) peer.network.admit(contacts.filter(({ peerId }) => peerId !== peer.identity.peerId));
}

async function until(what: string, isSo: () => boolean, timeoutMs = 15_000): Promise<void> {
  const endMs = performance.now() + timeoutMs;
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error(`still not after ${timeoutMs} ms: ${what}`);
    await Bun.sleep(20);
  }
}

/** Repeats a message until it is received, because messages before streams are open are lost. */
async function untilHeard(from: Peer, to: readonly Peer[], text: string, timeoutMs?: number): Promise<void> {
  let count = 0;
  const isHeard = (peer: Peer) =>
    peer.heard.some((message) => message.author === from.identity.peerId && message.text.startsWith(`${text}/`));
  await until(
    `${text} is heard`,
    () => {
      if (count++ % 5 === 0) from.say(`${text}/${count}`);
      return to.every(isHeard);
    },
    timeoutMs,
  );
}

/** Opens libp2p without our gate, like an attacker. */
async function openRaw(identity: GossipIdentity, cluster = clusterId) {
  const topic = `/quorate/gossip/1/${cluster}/heartbeat`;
  const node = await createLibp2p({
    privateKey: privateKeyFromRaw(identity.privateKey),
    addresses: { listen: [] },
    transports: [tcp()],
    connectionEncrypters: [noise({ prologueBytes: encoder.encode(`quorate/gossip/1/${cluster}`) })],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    services: {
      identify: identify(),
      gossip: gossipsub({ allowPublishToZeroTopicPeers: true }) as (components: GossipSubComponents) => GossipSub,
    },
  });
  opened.defer(() => node.stop());
  node.services.gossip.subscribe(topic);
  const dial = async (to: Peer) => {
    const { host, port } = to.network.address;
    return await node.dial(multiaddr(`/ip4/${host}/tcp/${port}/p2p/${to.identity.peerId}`), {
      signal: AbortSignal.timeout(5_000),
    });
  };
  return { node, topic, dial, gossip: node.services.gossip };
}

/** Opens two members, and a third one, admitted by one of them, that the test controls. */
async function openThree() {
  const [one, other] = (await openPeers(2)) as [Peer, Peer];
  const identity = await openGossipIdentity(undefined, Date.now());
  one.network.admit([other.contact, { peerId: identity.peerId, address: { host: loopback, port: 1 } }]);
  other.network.admit([one.contact]);
  return { one, other, raw: await openRaw(identity) };
}

describe("between members", () => {
  test("every message on either topic reaches all others with its author", async () => {
    const peers = await openPeers(4);
    acquaint(...peers);
    for (const peer of peers)
      await untilHeard(
        peer,
        peers.filter((other) => other !== peer),
        "hello",
      );
    const [first, ...others] = peers as [Peer, ...Peer[]];
    first.say("forget", "invalidation");
    await until("the invalidation is heard", () => others.every((peer) => peer.hasHeard("forget", first)));
    expect(others[0]?.heard.find(({ text }) => text === "forget")?.topic).toBe("invalidation");
    expect(peers.flatMap(({ dropped }) => dropped)).toEqual([]);
  });

  test("a message reaches peers that are connected only through others", async () => {
    const [left, middle, right] = (await openPeers(3)) as [Peer, Peer, Peer];
    left.network.admit([middle.contact]);
    right.network.admit([middle.contact]);
    middle.network.admit([left.contact, right.contact]);
    await untilHeard(left, [right], "over");
  });

  test("a name is as good as an address", async () => {
    const [one, other] = (await openPeers(2)) as [Peer, Peer];
    const named = (peer: Peer) => ({ ...peer.contact, address: { ...peer.contact.address, host: "localhost" } });
    one.network.admit([named(other)]);
    other.network.admit([named(one)]);
    await untilHeard(one, [other], "by name");
  });

  test("a peer that restarts with its key is heard again", async () => {
    const [stays, leaves] = (await openPeers(2)) as [Peer, Peer];
    acquaint(stays, leaves);
    await untilHeard(leaves, [stays], "before");
    const { address } = leaves.network;
    await leaves.network.close();
    const back = await openPeer({ identity: leaves.identity, listen: address });
    back.network.admit([stays.contact]);
    await untilHeard(back, [stays], "after");
    await untilHeard(stays, [back], "welcome");
  });

  test("a dropped message is not forwarded", async () => {
    const [left, middle, right] = (await openPeers(3)) as [Peer, Peer, Peer];
    left.network.admit([middle.contact]);
    right.network.admit([middle.contact]);
    middle.network.admit([left.contact, right.contact]);
    middle.verdict = (text) => (text.startsWith("old") ? "replayed" : undefined);
    await untilHeard(left, [right], "good");
    left.say("old news");
    await until("it was dropped", () => middle.dropped.includes("replayed"));
    await untilHeard(left, [right], "still good");
    expect(right.hasHeard("old news")).toBe(false);
  });
});

describe("attack 69: attacks on the gossip port", () => {
  test("an unknown peer is refused as soon as its key is known", async () => {
    const [one, other] = (await openPeers(2)) as [Peer, Peer];
    acquaint(one, other);
    const stranger = await openRaw(await openGossipIdentity(undefined, Date.now()));
    const connection = await stranger.dial(one).catch(() => undefined);
    await until("it is cut off", () => connection === undefined || connection.status !== "open");
    await stranger.gossip.publish(stranger.topic, encoder.encode("psst")).catch(() => {});
    await untilHeard(other, [one], "all is well");
    expect(one.dropped).toContain("stranger");
    expect(one.hasHeard("psst")).toBe(false);
  });

  test("a member of another cluster is refused by the handshake, although its key is known", async () => {
    const one = await openPeer();
    const identity = await openGossipIdentity(undefined, Date.now());
    one.network.admit([{ peerId: identity.peerId, address: { host: loopback, port: 1 } }]);
    const foreign = await openRaw(identity, "another");
    expect(foreign.dial(one)).rejects.toThrow();
    const known = await openRaw(identity);
    await known.dial(one);
  });

  test("a server at a member's address without its key is refused", async () => {
    const [one, impostor, member] = (await openPeers(3)) as [Peer, Peer, Peer];
    impostor.network.admit([one.contact]);
    one.network.admit([{ peerId: member.identity.peerId, address: impostor.network.address }]);
    await Bun.sleep(1_500);
    impostor.say("it is me");
    one.say("secret");
    await Bun.sleep(500);
    expect(impostor.heard).toEqual([]);
    expect(one.heard).toEqual([]);
  });

  test("a removed member is disconnected at once and not admitted again", async () => {
    const peers = await openPeers(3);
    const [removed, ...others] = peers as [Peer, Peer, Peer];
    acquaint(...peers);
    await untilHeard(removed, others, "member");
    acquaint(...others);
    await Bun.sleep(100);
    removed.say("still here?");
    // The peer keeps trying, because it may not know yet.
    await until("it is refused", () => others.some(({ dropped }) => dropped.includes("stranger")));
    removed.say("hello?");
    await untilHeard(others[0] as Peer, [others[1] as Peer], "alone");
    for (const other of others) expect(other.heard.filter(({ text }) => text.endsWith("?"))).toEqual([]);
  });

  test("a message with a forged sender or a forged signature is dropped, and its source is eventually refused", async () => {
    const [one, victim] = (await openPeers(2)) as [Peer, Peer];
    const identity = await openGossipIdentity(undefined, Date.now());
    const contact = { peerId: identity.peerId, address: { host: loopback, port: 1 } };
    one.network.admit([victim.contact, contact]);
    victim.network.admit([one.contact]);
    await untilHeard(victim, [one], "mine");
    const forger = await openRaw(identity);
    const connection = await forger.dial(one);
    await until("streams are open", () => forger.gossip.streamsOutbound.size > 0);
    const from = Buffer.from(privateKeyFromRaw(victim.identity.privateKey).publicKey.toMultihash().bytes);
    for (let sequence = 0; sequence < 40; sequence++) {
      const seqno = Buffer.alloc(8);
      seqno.writeBigUInt64BE(BigInt(sequence));
      sendFrame(forger.gossip, one, {
        messages: [{ from, seqno, topic: forger.topic, data: encoder.encode("forged"), signature: new Uint8Array(64) }],
      });
    }
    await until("it is banned", () => one.dropped.includes("banned"));
    await until("it is cut off", () => connection.status !== "open");
    expect(one.hasHeard("forged")).toBe(false);
    await untilHeard(victim, [one], "still mine");
  });

  test("a giant frame ends its stream, and no part of it is kept", async () => {
    const { one, other, raw } = await openThree();
    await raw.dial(one);
    await until("it subscribes", () => raw.gossip.getSubscribers(raw.topic).length > 0);
    await raw.gossip.publish(raw.topic, encoder.encode("small"));
    await until("it is heard", () => one.hasHeard("small"));
    await raw.gossip.publish(raw.topic, new Uint8Array(1_000_000).fill(97));
    await untilHeard(other, [one], "all is well");
    expect(one.heard.some(({ text }) => text.startsWith("aaaa"))).toBe(false);
  });

  test("thousands of invented topics, IHAVE, IWANT and GRAFT do not stop members from talking", async () => {
    const { one, other, raw } = await openThree();
    await raw.dial(one);
    await until("streams are open", () => raw.gossip.streamsOutbound.size > 0);
    const ids = Array.from({ length: 50 }, (_, at) => encoder.encode(`id-${at}`));
    for (let round = 0; round < 1_000; round++) {
      const invented = `/invented/${round}`;
      const ihave = [{ topicID: raw.topic, messageIDs: ids }];
      const control = { ihave, iwant: [{ messageIDs: ids }], graft: [{ topicID: invented }], prune: [], idontwant: [] };
      sendFrame(raw.gossip, one, { subscriptions: [{ subscribe: true, topic: invented }], messages: [], control });
    }
    const many = Array.from({ length: 500 }, (_, at) => ({ subscribe: true, topic: `/many/${at}` }));
    sendFrame(raw.gossip, one, { subscriptions: many, messages: [] });
    await untilHeard(other, [one], "all is well");
    await untilHeard(one, [other], "here too");
  });

  test("silent connections are closed and do not block members", async () => {
    const [one, other] = (await openPeers(2)) as [Peer, Peer];
    const { host, port } = one.network.address;
    const sockets = await Promise.all(Array.from({ length: 100 }, () => open(host, port)));
    opened.defer(() => sockets.forEach((socket) => socket.destroy()));
    await until("all are closed", () => sockets.every((socket) => socket.destroyed));
    acquaint(one, other);
    await untilHeard(other, [one], "hello");
  });

  test("bytes that are not a handshake end the connection", async () => {
    const one = await openPeer();
    const socket = await open(one.network.address.host, one.network.address.port);
    opened.defer(() => void socket.destroy());
    socket.write(Buffer.alloc(100_000, 0xff));
    await until("it is closed", () => socket.destroyed);
  });
});

describe("connections", () => {
  test("an open connection without messages is replaced", async () => {
    const quick = { upkeepIntervalMs: 100, silenceMs: 500, patienceMs: 5_000, banMs: 60_000, dialTimeoutMs: 5_000 };
    const identities = await Promise.all([0, 1].map(() => openGossipIdentity(undefined, Date.now())));
    identities.sort((a, b) => (a.peerId < b.peerId ? -1 : 1));
    const [first, second] = (await Promise.all(identities.map((identity) => openPeer({ identity }, quick)))) as [
      Peer,
      Peer,
    ];
    await using proxy = await StallingProxy.open(second.network.address.port);
    first.network.admit([{ ...second.contact, address: { host: loopback, port: proxy.port } }]);
    second.network.admit([first.contact]);
    await untilHeard(first, [second], "before");
    proxy.stall();
    await untilHeard(first, [second], "after");
    expect(proxy.connections).toBeGreaterThan(1);
  });

  test("closing ends although a peer does not respond", async () => {
    const [first, second] = (await openPeers(2)) as [Peer, Peer];
    await using proxy = await StallingProxy.open(second.network.address.port);
    first.network.admit([{ ...second.contact, address: { host: loopback, port: proxy.port } }]);
    second.network.admit([first.contact]);
    await untilHeard(first, [second], "before");
    proxy.stall();
    await first.network.close();
  });

  test("an attempt without an answer is given up, and the next one succeeds", async () => {
    const timing = { upkeepIntervalMs: 100, silenceMs: 5_000, patienceMs: 100, banMs: 60_000, dialTimeoutMs: 300 };
    const mute = createServer((socket) => opened.defer(() => void socket.destroy())).listen(0, loopback);
    opened.defer(() => void mute.close());
    const one = await openPeer({}, timing);
    const other = await openPeer();
    const { port } = mute.address() as { port: number };
    one.network.admit([{ ...other.contact, address: { host: loopback, port } }]);
    await Bun.sleep(1_000);
    acquaint(one, other);
    await untilHeard(one, [other], "at last");
  });
});

test("an address in use is reported in one line", async () => {
  const taken = createServer().listen(0, loopback);
  opened.defer(() => void taken.close());
  const { port } = taken.address() as { port: number };
  const identity = await openGossipIdentity(undefined, Date.now());
  expect(openPeer({ identity, listen: { host: loopback, port } })).rejects.toThrow(
    `gossip cannot listen on ${loopback} port ${port}`,
  );
});

async function open(host: string, port: number): Promise<Socket> {
  const socket = connect({ host, port });
  socket.on("error", () => {});
  socket.resume();
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once("connect", resolve).once("close", resolve);
  await promise;
  return socket;
}

/** A proxy that forwards bytes to a port until the test holds back those of its open connections. */
class StallingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets: Socket[] = [];
  connections = 0;

  static async open(target: number): Promise<StallingProxy> {
    const proxy = new StallingProxy(target);
    await once(proxy.#server, "listening");
    return proxy;
  }

  constructor(target: number) {
    this.#server = createServer((socket) => {
      this.connections++;
      const onward = connect({ host: loopback, port: target });
      for (const end of [socket, onward]) end.on("error", () => {});
      socket.on("close", () => onward.destroy());
      onward.on("close", () => socket.destroy());
      socket.pipe(onward).pipe(socket);
      this.#sockets.push(socket, onward);
    }).listen(0, loopback);
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  stall(): void {
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** Sends a frame that gossipsub itself would never send. */
function sendFrame(gossip: object, to: Peer, frame: object): void {
  const { sendRpc } = gossip as { sendRpc(this: object, peerId: PeerId, frame: object): boolean };
  sendRpc.call(gossip, to.identity.peerId, frame);
}
