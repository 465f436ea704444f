import type { MemberId } from "../core/ids.ts";
import type { InstallSnapshot, Message } from "../core/message.ts";
import { KnownMembers, type MayHaveJoined } from "./known-members.ts";
import type { Transport, TransportEvents } from "./transport.ts";

export interface NetworkFaults {
  /** Range from which each message's delay is drawn. */
  readonly delayMs: readonly [min: number, max: number];
  /** Probability, from 0 to 1, that a message is lost. */
  readonly loss: number;
  /** Probability that a message is duplicated. Proposals never are: see `Transport`. */
  readonly duplication: number;
  /** Probability that a message is delayed by the longest delay again, so that others overtake it. */
  readonly reorder: number;
}

export const noFaults: NetworkFaults = { delayMs: [0, 0], loss: 0, duplication: 0, reorder: 0 };

export interface MemoryNetworkOptions {
  /** Returns numbers in [0, 1). */
  readonly random: () => number;
  /** Timer; real time by default. */
  readonly after?: (delayMs: number, run: () => void) => void;
  readonly faults?: NetworkFaults;
}

/** A network between members in one process, with adjustable faults. */
export class MemoryNetwork {
  faults: NetworkFaults;
  readonly #random: () => number;
  readonly #after: (delayMs: number, run: () => void) => void;
  readonly #joined = new Map<MemberId, MemoryTransport>();
  /** Cut links as `from>to`. */
  readonly #cuts = new Set<string>();

  constructor({
    random,
    faults = noFaults,
    after = (delayMs, run) => void setTimeout(run, delayMs),
  }: MemoryNetworkOptions) {
    this.#random = random;
    this.#after = after;
    this.faults = faults;
  }

  /** Adds a member, replacing one with the same id. @param mayHaveJoined always false by default */
  join(member: MemberId, mayHaveJoined?: MayHaveJoined): Transport {
    return new MemoryTransport(member, this, mayHaveJoined);
  }

  /** Cuts the link in one direction. */
  cut(from: MemberId, to: MemberId): void {
    this.#cuts.add(`${from}>${to}`);
  }

  /** Cuts all links of a member in both directions. */
  isolate(member: MemberId): void {
    for (const other of this.#joined.keys()) {
      if (other === member) continue;
      this.cut(member, other);
      this.cut(other, member);
    }
  }

  heal(): void {
    this.#cuts.clear();
  }

  attach(transport: MemoryTransport): void {
    this.#joined.set(transport.member, transport);
  }

  detach(transport: MemoryTransport): void {
    if (this.#joined.get(transport.member) !== transport) return;
    this.#joined.delete(transport.member);
    for (const other of this.#joined.values()) this.#after(0, () => other.seeGone(transport.member));
  }

  isCut(from: MemberId, to: MemberId): boolean {
    return this.#cuts.has(`${from}>${to}`);
  }

  receiver(from: MemberId, to: MemberId): MemoryTransport | undefined {
    return this.isCut(from, to) ? undefined : this.#joined.get(to);
  }

  carry(message: Message): void {
    const { loss, duplication } = this.faults;
    if (this.#random() < loss) return;
    const copies = message.type !== "propose" && this.#random() < duplication ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      this.#after(this.#delayMs(), () => this.receiver(message.from, message.to)?.deliver(message));
    }
  }

  #delayMs(): number {
    const { delayMs, reorder } = this.faults;
    const [min, max] = delayMs;
    const usual = min + this.#random() * (max - min);
    return this.#random() < reorder ? usual + Math.max(1, max) : usual;
  }
}

class MemoryTransport implements Transport {
  readonly member: MemberId;
  readonly #network: MemoryNetwork;
  #events: TransportEvents | undefined;
  readonly #known: KnownMembers;

  constructor(member: MemberId, network: MemoryNetwork, mayHaveJoined: MayHaveJoined | undefined) {
    this.member = member;
    this.#network = network;
    this.#known = new KnownMembers(mayHaveJoined);
  }

  async start(events: TransportEvents): Promise<void> {
    this.#events = events;
    this.#network.attach(this);
  }

  setMembers(members: readonly MemberId[]): void {
    this.#known.set(members);
  }

  send(messages: readonly Message[]): void {
    for (const message of messages) {
      if (this.#known.refusalOf(message.to) !== undefined) this.#events?.dropped(message, "unknown");
      else this.#network.carry(message);
    }
  }

  deliver(message: Message): void {
    if (this.#known.refusalOf(message.from) === undefined) this.#events?.receive(message);
  }

  /** Reports that a process ended, along with its connections. */
  seeGone(member: MemberId): void {
    if (this.#known.has(member) && !this.#network.isCut(member, this.member)) this.#events?.gone?.(member);
  }

  async sendSnapshot(message: InstallSnapshot, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const receiver = this.#network.receiver(this.member, message.to);
    const events = receiver === undefined ? undefined : receiver.#events;
    if (events === undefined) throw new Error("the receiver cannot be reached");
    await events.receiveSnapshot(message, this.#whileConnected(message.to, chunks));
  }

  async close(): Promise<void> {
    this.#events = undefined;
    this.#network.detach(this);
  }

  async *#whileConnected(to: MemberId, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      if (this.#network.receiver(this.member, to) === undefined) throw new Error("the sender cannot be reached");
      yield chunk;
    }
  }
}
