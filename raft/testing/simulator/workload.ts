import { type MemberId, noIndex, type RequestId } from "../../core/ids.ts";
import type { ReadOutcome } from "../../core/message.ts";
import { electionUnits, type Profile } from "./profile.ts";
import type { Application, Clients } from "./application.ts";
import type { Machine } from "./machine.ts";
import { encodeCommand, RegisterMachine } from "./register-machine.ts";
import type { SimMember } from "./sim-member.ts";
import { must } from "./violation.ts";
import type { World } from "./world.ts";

/** A client waits this long before it asks again. */
const patienceUnits = 1.5 * electionUnits;

/** With so many reads open, those that were lost on the way are looked for. */
const openReadsMax = 50;

interface Client {
  readonly number: number;
  /** The write under way, or the last one. */
  sequence: number;
  acknowledged: number;
  askedAt: number;
  /** Where it asked; it learns of its write's effect there. */
  at: MemberId | undefined;
}

interface Read {
  readonly member: MemberId;
  readonly incarnation: number;
  readonly beganAt: number;
  /** What every register held at least when the read began, because somebody had been told so. */
  readonly floor: readonly number[];
  /** Set once it is confirmed. */
  index: number | undefined;
}

/**
 * Clients that each write 1, 2, 3 … to a register of their own, one at a time, repeating what is not answered, and
 * read all registers. A read must return at least what any client knew when it began, and nothing that was not asked
 * for: with one writer a register, that is linearizability.
 */
class Workload implements Clients {
  readonly #world: World;
  readonly #clients: Client[];
  readonly #reads = new Map<RequestId, Read>();
  /** By client: the largest value that somebody has been told. */
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

  /** A client's turn: a new write if the last one is answered, the same one again if it takes too long; or a read. */
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

  /** From now on it counts who serves reads; those that are open are given up. */
  beginCalm(): void {
    this.#reads.clear();
    this.servedBy.clear();
  }

  /** Reads that were lost on the way are given up. */
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

  /** Reads that are confirmed, and whose index the state has reached. */
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

/** Writers and readers of registers: what consensus alone is tried with. */
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
