import { type MemberId, noIndex, type RequestId } from "../../core/ids.ts";
import type { ReadOutcome } from "../../core/message.ts";
import type { Application, Clients } from "./application.ts";
import type { Machine } from "./machine.ts";
import { electionUnits, type Profile } from "./profile.ts";
import { encodeCommand, RegisterMachine } from "./register-machine.ts";
import type { SimMember } from "./sim-member.ts";
import { must } from "./violation.ts";
import type { World } from "./world.ts";

/** Time that a client waits before it asks again. */
const patienceUnits = 1.5 * electionUnits;

/** Number of open reads at which lost ones are removed. */
const openReadsMax = 50;

interface Client {
  readonly number: number;
  /** Sequence number of the write under way, or of the last one. */
  sequence: number;
  acknowledged: number;
  askedAt: number;
  /** The member that it asked, which reports the effect of its write. */
  at: MemberId | undefined;
}

interface Read {
  readonly member: MemberId;
  readonly incarnation: number;
  readonly beganAt: number;
  /** Smallest value that each register must have in this read, because a client had already learned it. */
  readonly floor: readonly number[];
  /** Confirmed index; set when the read is confirmed. */
  index: number | undefined;
}

/**
 * Clients that each write 1, 2, 3 … to a register of their own, one at a time, repeat unanswered writes, and read all
 * registers. A read must return at least every value that a client knew when it began, and no value that was not
 * requested. With one writer per register, that is linearizability.
 */
class Workload implements Clients {
  readonly #world: World;
  readonly #clients: Client[];
  readonly #reads = new Map<RequestId, Read>();
  /** The largest value that any client knows, by client. */
  readonly #known: number[];
  #requests = 0;
  readsServed = 0;
  readonly servedBy = new Set<MemberId>();

  constructor(world: World, clients: number) {
    this.#world = world;
    this.#known = Array.from({ length: clients }, () => 0);
    this.#clients = this.#known.map((_, number) => {
      return { number, sequence: 0, acknowledged: 0, askedAt: 0, at: undefined };
    });
  }

  get isIdle(): boolean {
    return this.#clients.every(({ sequence, acknowledged }) => sequence === acknowledged);
  }

  /**
   * Runs a client's turn: a new write if the last one is answered, the same one again if it takes too long, or a read.
   */
  turn(number: number, members: readonly SimMember[], mayBegin: boolean): void {
    const { random, now } = this.#world;
    const client = this.#clients[number];
    const member = random.pick(members);
    if (client === undefined || member?.process === undefined) return;
    if (random.chance(300) && mayBegin) return this.read(member);
    const isWaiting = client.sequence > client.acknowledged;
    if (isWaiting ? now - client.askedAt < patienceUnits : !mayBegin) return;
    if (!isWaiting) client.sequence++;
    client.askedAt = now;
    client.at = member.id;
    const padding = random.below(60);
    const command = encodeCommand({ client: number, sequence: client.sequence }, padding);
    const answer = member.process.node.propose(this.#nextId(), command);
    if (answer.kind === "refused") client.askedAt = -patienceUnits;
    member.settle(member.process);
  }

  read(member: SimMember): void {
    const { process } = member;
    if (process === undefined) return;
    if (this.#reads.size >= openReadsMax) this.forgetOldReads();
    const id = this.#nextId();
    const { incarnation } = process;
    const { now: beganAt } = this.#world;
    this.#reads.set(id, { member: member.id, incarnation, beganAt, floor: [...this.#known], index: undefined });
    if (process.node.readIndex(id) !== undefined) this.#reads.delete(id);
    member.settle(process);
  }

  /** Starts to record which members serve reads, and drops the open reads. */
  beginCalm(): void {
    this.#reads.clear();
    this.servedBy.clear();
  }

  /** Drops reads that were lost on the way. */
  forgetOldReads(): void {
    for (const [id, { beganAt }] of this.#reads) {
      if (beganAt < this.#world.now - patienceUnits) this.#reads.delete(id);
    }
  }

  readAnswered(member: SimMember, id: RequestId, outcome: ReadOutcome): void {
    const read = this.#reads.get(id);
    if (read === undefined) return;
    if (outcome.kind === "refused" || read.incarnation !== member.process?.incarnation) {
      this.#reads.delete(id);
      return;
    }
    read.index = outcome.index;
    this.#serve(member);
  }

  stateAdvanced(member: SimMember): void {
    const registers = registersOf(member.process?.machine);
    for (const client of this.#clients) {
      const value = registers?.[client.number] ?? 0;
      if (client.at !== member.id || client.acknowledged === client.sequence || value < client.sequence) continue;
      client.acknowledged = client.sequence;
      this.#known[client.number] = Math.max(this.#known[client.number] ?? 0, value);
    }
    this.#serve(member);
  }

  /** Serves the confirmed reads whose index the state has reached. */
  #serve({ id: memberId, process }: SimMember): void {
    if (process === undefined || this.#reads.size === 0) return;
    for (const [id, { member, incarnation, index, floor }] of this.#reads) {
      if (member !== memberId || index === undefined || process.machine.index < index) continue;
      this.#reads.delete(id);
      if (incarnation === process.incarnation) this.#check(memberId, registersOf(process.machine), floor);
    }
  }

  #check(member: MemberId, registers: Int32Array, floor: readonly number[]): void {
    this.readsServed++;
    this.servedBy.add(member);
    for (const { number, sequence } of this.#clients) {
      const value = registers[number] ?? 0;
      must(value >= (floor[number] ?? 0), () => `member ${member} reads ${value} where ${floor[number]} was known`);
      must(value <= sequence, () => `member ${member} reads ${value}, which nobody wrote yet`);
      this.#known[number] = Math.max(this.#known[number] ?? 0, value);
    }
  }

  checkEnd(machine: Machine | undefined): void {
    const registers = registersOf(machine);
    for (const { number, acknowledged } of this.#clients) {
      const value = registers[number] ?? 0;
      must(value >= acknowledged, () => `client ${number} was told of ${acknowledged}, and ${value} is left`);
    }
  }

  #nextId(): RequestId {
    return ++this.#requests as RequestId;
  }
}

/** Returns writers and readers of registers, the workload for consensus alone. */
export function registerApplication({ clients }: Profile): Application {
  return {
    repeatsProposals: true,
    newMachine: () => new RegisterMachine(noIndex, 0, new Int32Array(clients)),
    clients: (world) => new Workload(world, clients),
  };
}

function registersOf(machine: Machine | undefined): Int32Array {
  return machine instanceof RegisterMachine ? machine.registers : new Int32Array();
}
