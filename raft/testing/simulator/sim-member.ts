import type { Entry } from "../../core/entry.ts";
import { type Index, type MemberId, noMember, type RequestId } from "../../core/ids.ts";
import type { DatedMembership } from "../../core/log.ts";
import { membersOf } from "../../core/membership.ts";
import type { Message, ReadOutcome } from "../../core/message.ts";
import { RawNode } from "../../core/raw-node.ts";
import type { Ready, Write } from "../../core/ready.ts";
import { changesMembership, heardMembers } from "../../heard-members.ts";
import { KnownMembers } from "../../transport/known-members.ts";
import type { Checkpoint, DiskImage } from "./disk-image.ts";
import type { Machine } from "./machine.ts";
import { electionTicks, electionUnits, heartbeatTicks, tickUnits } from "./profile.ts";
import type { Command } from "./register-machine.ts";
import { must } from "./violation.ts";
import type { CrashPoint, World } from "./world.ts";
import { Crash } from "./world.ts";

/** The write of one Ready with the messages to send after it. Without a write, only the messages. */
interface QueuedWrite {
  readonly queuedAt: number;
  readonly durableAt: number;
  readonly write: Write | undefined;
  readonly received: Checkpoint | undefined;
  readonly promises: readonly Message[];
}

/** Maximum backlog of a disk or state machine. Further work takes no more time and joins the work in progress. */
const backlogUnitsMax = 3 * electionUnits;

/** Maximum number of Readys after one input. */
const turnsMax = 1_000;

/** The state that a crash loses. */
export interface Process {
  readonly node: RawNode;
  readonly incarnation: number;
  readonly tickUnits: number;
  readonly known: KnownMembers;
  machine: Machine;
  readonly writes: QueuedWrite[];
  readonly applying: (readonly Entry[])[];
  readonly staged: Map<Index, Checkpoint>;
  /** Time at which the last queued write will be durable. */
  diskFreeAt: number;
  applyFreeAt: number;
}

/** Receives the events of a member's process. */
export interface Audience {
  started?(member: SimMember, process: Process): void;
  /** Reports that the process is gone. */
  stopped?(member: SimMember): void;
  readAnswered(member: SimMember, id: RequestId, outcome: ReadOutcome): void;
  /** Called after all other work of a `ready` has started. */
  handedOut?(member: SimMember, ready: Ready): void;
  /** Reports that these entries are applied. */
  stateAdvanced(member: SimMember, entries: readonly Entry[]): void;
  /** Reports that a snapshot has replaced the state. */
  installed?(member: SimMember, replaced: Machine): void;
}

/** Follows everything that a member does, and throws when it breaks a rule. */
export interface Judge {
  started(member: SimMember): void;
  stopped(member: SimMember): void;
  ticked(member: SimMember, process: Process): void;
  /** Called before the member handles a message. */
  receives(member: SimMember, process: Process, message: Message): void;
  /** Called after the member has handled it. */
  received(member: SimMember, process: Process, message: Message): void;
  settled(member: SimMember, process: Process): void;
  handedOut(member: SimMember, process: Process, ready: Ready): void;
  applied(member: SimMember, entry: Entry, machine: Machine, command: Command | undefined): void;
  sends(member: SimMember, message: Message): void;
  installed(member: SimMember, checkpoint: Checkpoint): void;
}

/**
 * The driver in simulated time. It has the same order of steps as the real one, and a disk that takes time, loses
 * unacknowledged data, and may tear the write that a crash interrupts.
 */
export class SimMember {
  readonly id: MemberId;
  readonly disk: DiskImage;
  readonly #world: World;
  readonly #checker: Judge;
  readonly #audience: Audience;
  process: Process | undefined;
  armed: CrashPoint | undefined;
  /** Time before which the member does nothing. */
  pausedUntil = 0;
  #incarnations = 0;

  constructor(id: MemberId, disk: DiskImage, world: World, checker: Judge, audience: Audience) {
    this.id = id;
    this.disk = disk;
    this.#world = world;
    this.#checker = checker;
    this.#audience = audience;
  }

  /** Starts the process, unless it refuses the data on its disk. */
  start(): void {
    if (this.disk.isRefused) return;
    const { random, profile, now } = this.#world;
    const incarnation = ++this.#incarnations;
    const options = { id: this.id, electionTicks, heartbeatTicks, random, limits: profile.limits };
    const node = new RawNode(options, this.disk.recover());
    this.process = {
      node,
      known: new KnownMembers((id) => id > greatestOf(node.log.memberships)),
      incarnation,
      tickUnits: Math.round((tickUnits * (100 + random.between(-profile.clockErrorMax, profile.clockErrorMax))) / 100),
      machine: this.disk.checkpoint.state.clone(),
      writes: [],
      applying: [],
      staged: new Map(),
      diskFreeAt: now,
      applyFreeAt: now,
    };
    this.armed = undefined;
    this.pausedUntil = 0;
    this.#followMembership(this.process);
    this.#checker.started(this);
    this.#audience.started?.(this, this.process);
    this.#world.schedule(random.between(1, tickUnits), { kind: "tick", member: this.id, incarnation });
  }

  /**
   * Crashes the member. Its unfinished writes are partly on disk: some complete, the next one perhaps torn, the rest
   * missing.
   */
  crash(): void {
    const { process } = this;
    if (process === undefined) return;
    const { random } = this.#world;
    const writes = process.writes.filter(({ write }) => write !== undefined);
    const whole = random.below(writes.length + 1);
    for (const { write, received } of writes.slice(0, whole)) this.disk.write(write as Write, received);
    const next = writes[whole];
    if (next?.write !== undefined && random.chance(300)) {
      this.disk.tear(next.write, next.received, random.below(next.write.entries.length + 1));
    }
    if (this.#world.disksLie) this.disk.forget(random.between(1, 5));
    this.process = undefined;
    this.#checker.stopped(this);
    this.#audience.stopped?.(this);
  }

  tick(process: Process): void {
    const oldest = process.writes[0];
    if (oldest !== undefined && this.#world.now - oldest.queuedAt > 2 * electionUnits) process.node.stepDown();
    process.node.tick();
    this.#followMembership(process);
    this.#checker.ticked(this, process);
    const { incarnation } = process;
    this.#world.schedule(process.tickUnits, { kind: "tick", member: this.id, incarnation });
    this.pump(process);
  }

  receive(process: Process, message: Message, snapshot: Checkpoint | undefined): void {
    if (this.#refuses(process, message.from)) return;
    if (message.type === "snapshot" && snapshot !== undefined) process.staged.set(snapshot.meta.index, snapshot);
    this.#checker.receives(this, process, message);
    process.node.step(message);
    this.#checker.received(this, process, message);
    this.settle(process);
  }

  /** Works off an input, usually at once, but sometimes after the next one, so that several share a Ready. */
  settle(process: Process): void {
    const { random, profile, isCalm } = this.#world;
    if (!isCalm && random.chance(profile.lazyReady)) this.#checker.settled(this, process);
    else this.pump(process);
  }

  pump(process: Process): void {
    const { node } = process;
    for (let turn = 0; node.hasReady(); turn++) {
      must(turn < turnsMax, () => `member ${this.id} is never done`);
      const ready = node.ready();
      node.advance(ready);
      this.#checker.settled(this, process);
      this.#checker.handedOut(this, process, ready);
      if (changesMembership(ready)) this.#followMembership(process);
      this.crashPoint("readyTaken");
      for (const message of ready.messagesNow) this.#send(process, message);
      this.crashPoint("messagesSent");
      this.#queueWrite(process, ready);
      if (ready.committed.length > 0) this.#queueApply(process, ready.committed);
      for (const { id, outcome } of ready.readStates) this.#audience.readAnswered(this, id, outcome);
      this.#audience.handedOut?.(this, ready);
    }
    this.#checker.settled(this, process);
  }

  /** Makes the oldest writes durable and acknowledges them together. */
  written(process: Process): void {
    const { writes, node } = process;
    const promises: Message[] = [];
    let mark: Write["mark"] | undefined;
    for (let next = writes[0]; next !== undefined && next.durableAt <= this.#world.now; next = writes[0]) {
      if (next.write !== undefined) {
        if (next.received !== undefined) this.#install(process, next.received);
        this.disk.write(next.write, next.received);
        mark = next.write.mark;
      }
      writes.shift();
      promises.push(...next.promises);
    }
    this.crashPoint("writeDurable");
    if (mark !== undefined) node.persisted(mark);
    this.crashPoint("writeAcknowledged");
    for (const message of promises) this.#send(process, message);
    this.crashPoint("promisesSent");
    this.pump(process);
  }

  /** Lets the state machine take the oldest batch. */
  applyNext(process: Process): void {
    const batch = process.applying.shift();
    if (batch === undefined) return;
    this.crashPoint("beforeApply");
    const { machine, node } = process;
    for (const entry of batch) {
      const command = machine.apply(entry);
      this.#checker.applied(this, entry, machine, command);
    }
    this.crashPoint("afterApply");
    node.applied(machine.index);
    this.#audience.stateAdvanced(this, batch);
    this.pump(process);
  }

  /** Makes the state durable, then removes the log before it except for a tail. */
  checkpoint(process: Process): void {
    const { node, machine } = process;
    if (machine.index <= node.log.base.index || machine.index > node.status().applied) return;
    this.disk.checkpoint = { meta: node.snapshotMeta(machine.index), state: machine.clone() };
    this.crashPoint("checkpointDurable");
    const index = (machine.index - this.#world.profile.logTail) as Index;
    if (index <= node.log.base.index || index <= this.disk.base.index) return;
    const base = node.snapshotMeta(index);
    node.compact(index);
    this.disk.compact(base);
    this.crashPoint("logCompacted");
  }

  crashPoint(point: CrashPoint): void {
    if (this.armed !== point) return;
    this.armed = undefined;
    throw new Crash(this.id, point);
  }

  /** Tells the transport's rule the members, as the real driver does. A new member needs no seeds: its log names nobody. */
  #followMembership({ node, known }: Process): void {
    known.set(heardMembers(node.log, this.id, []));
  }

  #refuses({ known }: Process, other: MemberId): boolean {
    return this.#world.profile.refusesStrangers && known.refusalOf(other) !== undefined;
  }

  #send(process: Process, message: Message): void {
    this.#checker.sends(this, message);
    if (this.#refuses(process, message.to)) return;
    if (message.type !== "snapshot") return this.#world.send(message, undefined);
    const { node, machine } = process;
    const snapshot = { meta: node.snapshotMeta(machine.index), state: machine.clone() };
    this.#world.send({ ...message, snapshot: snapshot.meta }, snapshot);
  }

  #queueWrite(process: Process, { write, messagesAfterPersist }: Ready): void {
    if (write === undefined && messagesAfterPersist.length === 0) return;
    if (write === undefined && process.writes.length === 0) {
      for (const message of messagesAfterPersist) this.#send(process, message);
      return;
    }
    const received = write?.snapshot === undefined ? undefined : process.staged.get(write.snapshot.index);
    if (received !== undefined) this.crashPoint("snapshotReceived");
    const queuedAt = this.#world.now;
    const durableAt = this.#nextWriteDone(process);
    process.writes.push({ queuedAt, durableAt, write, received, promises: messagesAfterPersist });
    const { incarnation } = process;
    this.#world.schedule(durableAt - queuedAt, { kind: "written", member: this.id, incarnation });
  }

  #nextWriteDone(process: Process): number {
    const { random, profile, now, isCalm } = this.#world;
    const grouped =
      process.diskFreeAt > now + backlogUnitsMax || (random.chance(profile.groupCommit) && process.diskFreeAt > now);
    const hangs = !isCalm && random.chance(profile.diskHang);
    const units = hangs ? random.between(1, 5) * electionUnits : random.between(1, isCalm ? 5 : profile.diskUnitsMax);
    process.diskFreeAt = Math.max(process.diskFreeAt, now) + (grouped ? 0 : units);
    return process.diskFreeAt;
  }

  #queueApply(process: Process, batch: readonly Entry[]): void {
    const { random, profile, now, isCalm } = this.#world;
    process.applying.push(batch);
    const units =
      process.applyFreeAt > now + backlogUnitsMax ? 0 : random.between(1, isCalm ? 5 : profile.applyUnitsMax);
    process.applyFreeAt = Math.max(process.applyFreeAt, now) + units;
    const { incarnation } = process;
    this.#world.schedule(process.applyFreeAt - now, { kind: "applied", member: this.id, incarnation });
  }

  /** Replaces the state. Entries still to be applied before that are part of the new state. */
  #install(process: Process, received: Checkpoint): void {
    process.applying.length = 0;
    const replaced = process.machine;
    process.machine = received.state.clone();
    for (const index of process.staged.keys()) if (index <= received.meta.index) process.staged.delete(index);
    this.#checker.installed(this, received);
    this.#audience.installed?.(this, replaced);
    if (this.armed === "snapshotInstalled") this.disk.checkpoint = received;
    this.crashPoint("snapshotInstalled");
  }
}

/** Returns the greatest number of a member that the log names. Numbers are given in order. */
function greatestOf(memberships: readonly DatedMembership[]): MemberId {
  return memberships.flatMap(({ membership }) => membersOf(membership)).reduce((a, b) => (a > b ? a : b), noMember);
}
