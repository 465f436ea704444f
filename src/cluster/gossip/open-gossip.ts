import type { Clock } from "../../process/clock.ts";
import type { MemberNumber } from "../../storage/cluster.ts";
import { type PeerAddress, parsePeerAddress } from "../member-address.ts";
import {
  announceIntervalMs,
  type Gossip,
  type GossipMember,
  heartbeatIntervalMs,
  type InvalidationSubject,
  invalidationIntervalMs,
  type PeerHealth,
  type ReplicaHealth,
  staleMs,
} from "./gossip.ts";
import type { GossipIdentity } from "./gossip-identity.ts";
import { encodeHeartbeat, encodeInvalidation, messageBytesMax, parseHeartbeat, parseInvalidation } from "./message.ts";
import type { Contact, DropReason, GossipNetwork, OpenNetwork, Topic } from "./network.ts";
import { isPeerId, type PeerId } from "./peer-id.ts";
import { Sender } from "./sender.ts";
import { Throttle } from "./throttle.ts";

export interface GossipOptions {
  readonly clusterId: string;
  readonly self: MemberNumber;
  readonly identity: GossipIdentity;
  readonly listen: PeerAddress;
  /**
   * Returns the members. Called before every heartbeat. This replica and members without a gossip address are skipped.
   */
  readonly members: () => readonly Partial<GossipMember>[];
  /** Returns this replica's health; called for every heartbeat. */
  readonly health: () => ReplicaHealth | Promise<ReplicaHealth>;
  readonly clock: Clock;
  /** Receives errors of `members`, `health` or a listener. Gossip continues. */
  readonly onError: (error: unknown) => void;
  /** Counts dropped input. */
  readonly onDropped?: (reason: DropReason) => void;
  readonly openNetwork?: OpenNetwork;
}

/** Maximum number of members that are connected. A cluster has a handful. */
const membersMax = 64;

/**
 * Opens gossip. Resolves when this replica listens; others are found later. libp2p is loaded only here.
 * @throws StartupError if the address cannot be listened on
 */
export async function openGossip(options: GossipOptions): Promise<Gossip> {
  const gossip = new ReplicaGossip(options);
  await gossip.open(options.openNetwork ?? (await loadNetwork()));
  return gossip;
}

async function loadNetwork(): Promise<OpenNetwork> {
  const { openLibp2pNetwork } = await import("./libp2p-network.ts");
  return openLibp2pNetwork;
}

interface Heard {
  readonly health: ReplicaHealth;
  readonly atMs: number;
}

class ReplicaGossip implements Gossip {
  readonly #options: GossipOptions;
  readonly #senders = new Map<PeerId, Sender>();
  readonly #heard = new Map<MemberNumber, Heard>();
  readonly #invalidationListeners = new Set<(subject: InvalidationSubject) => void>();
  readonly #sentInvalidation: Throttle<InvalidationSubject>;
  readonly #heardInvalidation: Throttle<InvalidationSubject>;
  readonly #announcement: Throttle<"heartbeat">;
  readonly #running = new DisposableStack();
  #network: GossipNetwork | undefined;
  #sequence = 0;
  #isAsking = false;

  constructor(options: GossipOptions) {
    this.#options = options;
    const { clock } = options;
    this.#announcement = this.#running.use(
      new Throttle(clock, announceIntervalMs, () => void this.#sendHeartbeat().catch(options.onError)),
    );
    this.#sentInvalidation = this.#running.use(
      new Throttle(clock, invalidationIntervalMs, (subject) => this.#sendInvalidation(subject)),
    );
    this.#heardInvalidation = this.#running.use(
      new Throttle(clock, invalidationIntervalMs, (subject) => {
        for (const listener of this.#invalidationListeners) this.#safely(() => listener(subject));
      }),
    );
  }

  async open(openNetwork: OpenNetwork): Promise<void> {
    const { clock, clusterId, identity, listen } = this.#options;
    this.#network = await openNetwork({
      clusterId,
      identity,
      listen,
      onMessage: (topic, author, message) => this.#receive(topic, author, message),
      onDropped: (reason) => this.#options.onDropped?.(reason),
    });
    this.#running.use(clock.every(heartbeatIntervalMs, () => this.#beat()));
    this.#beat();
  }

  peers(): ReadonlyMap<MemberNumber, PeerHealth> {
    const nowMs = this.#options.clock.steadyMs();
    const peers = [...this.#heard].map(([member, { health, atMs }]): [MemberNumber, PeerHealth] => {
      const ageMs = Math.max(0, nowMs - atMs);
      return [member, { ...health, ageMs, isStale: ageMs > staleMs }];
    });
    return new Map(peers.sort(([a], [b]) => a - b));
  }

  announce(): void {
    this.#announcement.run("heartbeat");
  }

  invalidate(subject: InvalidationSubject): void {
    this.#sentInvalidation.run(subject);
  }

  onInvalidate(listener: (subject: InvalidationSubject) => void): Disposable {
    this.#invalidationListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#invalidationListeners.delete(listener) };
  }

  async close(): Promise<void> {
    if (this.#running.disposed) return;
    this.#running.dispose();
    await this.#network?.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #beat(): void {
    this.#safely(() => this.#admitMembers());
    this.announce();
  }

  #admitMembers(): void {
    const { clock, identity, members, self } = this.#options;
    const contacts = new Map<PeerId, Contact & { readonly member: MemberNumber }>();
    for (const record of members()) {
      const contact = contactOf(record);
      const isOther = contact !== undefined && contact.member !== self && contact.peerId !== identity.peerId;
      if (isOther && contacts.size < membersMax) contacts.set(contact.peerId, contact);
    }
    for (const [peerId, sender] of this.#senders) {
      if (contacts.get(peerId)?.member !== sender.member) this.#forget(peerId, sender.member);
    }
    for (const [peerId, { member }] of contacts) {
      if (!this.#senders.has(peerId)) this.#senders.set(peerId, new Sender(member, clock.steadyMs()));
    }
    this.#network?.admit([...contacts.values()]);
  }

  #forget(peerId: PeerId, member: MemberNumber): void {
    this.#senders.delete(peerId);
    this.#heard.delete(member);
  }

  /** Sends a heartbeat. Skips it while `health` is still running; the next one comes anyway. */
  async #sendHeartbeat(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const health = await this.#options.health();
      if (this.#running.disposed) return;
      this.#network?.publish("heartbeat", encodeHeartbeat({ ...this.#nextEnvelope(), health }));
    } finally {
      this.#isAsking = false;
    }
  }

  #sendInvalidation(subject: InvalidationSubject): void {
    this.#network?.publish("invalidation", encodeInvalidation({ ...this.#nextEnvelope(), subject }));
  }

  #nextEnvelope() {
    const { identity, self } = this.#options;
    return { member: self, incarnation: identity.incarnation, sequence: ++this.#sequence };
  }

  #receive(topic: Topic, author: PeerId, message: Uint8Array): DropReason | undefined {
    const sender = this.#senders.get(author);
    if (sender === undefined || this.#running.disposed) return "stranger";
    if (!sender.allows(this.#options.clock.steadyMs())) return "flood";
    if (message.length > messageBytesMax) return "malformed";
    return topic === "heartbeat" ? this.#receiveHeartbeat(sender, message) : this.#receiveInvalidation(sender, message);
  }

  #receiveHeartbeat(sender: Sender, message: Uint8Array): DropReason | undefined {
    const heartbeat = parseHeartbeat(message);
    if (heartbeat === undefined) return "malformed";
    if (heartbeat.member !== sender.member) return "forged";
    if (!sender.isNews("heartbeat", heartbeat)) return "replayed";
    this.#heard.set(sender.member, { health: heartbeat.health, atMs: this.#options.clock.steadyMs() });
    return undefined;
  }

  #receiveInvalidation(sender: Sender, message: Uint8Array): DropReason | undefined {
    const invalidation = parseInvalidation(message);
    if (invalidation === undefined) return "malformed";
    if (invalidation.member !== sender.member) return "forged";
    const { subject } = invalidation;
    if (!sender.isNews(subject, invalidation)) return "replayed";
    this.#heardInvalidation.run(subject);
    return undefined;
  }

  /** Runs a listener. Its error never stops the process, because gossip is only a hint. */
  #safely(run: () => void): void {
    try {
      run();
    } catch (error) {
      this.#options.onError(error);
    }
  }
}

function contactOf({ id, peerId, gossipAddress }: Partial<GossipMember>) {
  if (id === undefined || peerId === undefined || gossipAddress === undefined || !isPeerId(peerId)) return undefined;
  try {
    return { member: id, peerId, address: parsePeerAddress(gossipAddress) };
  } catch {
    return undefined;
  }
}
