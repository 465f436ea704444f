import { RaftInvariantError } from "../../core/assert.ts";
import type { ConfStep } from "../../core/conf-change.ts";
import type { Entry } from "../../core/entry.ts";
import type { Index, MemberId, RequestId } from "../../core/ids.ts";
import { noIndex, noMember, noTerm } from "../../core/ids.ts";
import type { Membership } from "../../core/membership.ts";
import type { Message } from "../../core/message.ts";
import type { Limits } from "../../core/options.ts";
import { RawNode } from "../../core/raw-node.ts";
import type { Ready, Write } from "../../core/ready.ts";
import type { SnapshotMeta } from "../../core/snapshot.ts";
import { DiskImage } from "../simulator/disk-image.ts";
import { RegisterMachine } from "../simulator/register-machine.ts";
import { must } from "../simulator/violation.ts";
import {
  describeEntry,
  describeMembership,
  describeMessage,
  describeOutcome,
  describeRole,
  describeWrite,
} from "./describe.ts";

interface Pending {
  readonly write: Write | undefined;
  readonly promises: readonly Message[];
}

interface Player {
  readonly id: MemberId;
  readonly disk: DiskImage;
  node: RawNode | undefined;
  /** Writes that its disk has not finished. */
  pending: Pending[];
  diskHolds: boolean;
  /** Whether its state machine accepts entries without applying them. */
  appliesLate: boolean;
  handedToApply: Index;
}

const electionTicks = 10;
const heartbeatTicks = 3;
/** Maximum number of Readys after one input. */
const turnsMax = 1_000;
/** Maximum number of message hops until a scenario settles. */
const hopsMax = 200;

/**
 * A few members moved by hand. Messages are delivered and writes made durable only by commands, and every action of a
 * member is reported. Member n draws n − 1 as its random number, so the lowest number stands first.
 */
export class Stage {
  readonly lines: string[] = [];
  readonly #players = new Map<MemberId, Player>();
  #flying: Message[] = [];
  readonly #cuts = new Set<string>();
  #limits: Partial<Limits> = {};
  #requests = 0;
  /** Whether messages and writes are omitted from the report, while the scenario settles by itself. */
  #isQuiet = false;

  limit(limits: Partial<Limits>): void {
    this.#limits = { ...this.#limits, ...limits };
  }

  join(id: MemberId, membership: Membership): void {
    const meta = { index: noIndex, term: noTerm, membership };
    const state = new RegisterMachine(noIndex, 0, new Int32Array(0));
    const disk = new DiskImage({ term: noTerm, vote: noMember, commit: noIndex }, { meta, state });
    const player: Player = {
      id,
      disk,
      node: undefined,
      pending: [],
      diskHolds: false,
      appliesLate: false,
      handedToApply: noIndex,
    };
    this.#players.set(id, player);
    this.#start(player);
  }

  tick(id: MemberId, times: number): void {
    for (let time = 0; time < times; time++) this.#act(id, (node) => node.tick());
  }

  /** Ticks all members, one after the other, and delivers their messages. */
  passTime(times: number): void {
    for (let time = 0; time < times; time++) {
      this.#isQuiet = true;
      for (const id of this.#players.keys()) if (this.#player(id).node !== undefined) this.tick(id, 1);
      this.settle();
    }
  }

  /** Campaigns, and lets all consequences happen. */
  elect(id: MemberId): void {
    this.#isQuiet = true;
    this.campaign(id);
    this.settle();
  }

  campaign(id: MemberId): void {
    this.#act(id, (node) => node.campaign());
  }

  propose(id: MemberId, text: string): void {
    this.#act(id, (node) => {
      const outcome = node.propose(++this.#requests as RequestId, new TextEncoder().encode(text));
      this.#tell(`${id} propose ${describeOutcome(outcome)}`);
    });
  }

  change(id: MemberId, steps: readonly ConfStep[]): void {
    this.#act(id, (node) => {
      const outcome = node.proposeConfChange({ steps, context: new Uint8Array() });
      this.#tell(`${id} change ${describeOutcome(outcome)}`);
    });
  }

  read(id: MemberId): void {
    this.#act(id, (node) => {
      const request = ++this.#requests as RequestId;
      const refusal = node.readIndex(request);
      this.#tell(`${id} read #${request}${refusal === undefined ? " asked" : ` refused: ${refusal}`}`);
    });
  }

  transfer(id: MemberId, to: MemberId): void {
    this.#act(id, (node) => {
      const refusal = node.transferLeadership(to);
      if (refusal !== undefined) this.#tell(`${id} transfer refused: ${refusal}`);
    });
  }

  stepDown(id: MemberId): void {
    this.#act(id, (node) => node.stepDown());
  }

  unreachable(id: MemberId, member: MemberId): void {
    this.#act(id, (node) => node.reportUnreachable(member));
  }

  gone(id: MemberId, member: MemberId): void {
    this.#act(id, (node) => node.reportGone(member));
  }

  /** Reports the end of a stream that `id` sent. */
  streamed(id: MemberId, to: MemberId, arrived: boolean): void {
    this.#act(id, (node) => node.reportSnapshot(to, arrived));
  }

  /** Delivers the messages in flight, except over cut links. With ends given, delivers only those between them. */
  deliver(from?: MemberId, to?: MemberId): void {
    for (const message of this.#take(from, to)) this.#arrive(message);
  }

  drop(from?: MemberId, to?: MemberId): void {
    this.#take(from, to);
  }

  /** Delivers messages in flight and keeps them in flight, so they arrive again. */
  repeat(from: MemberId, to: MemberId): void {
    const messages = this.#take(from, to);
    this.#flying.push(...messages);
    for (const message of messages) this.#arrive(message);
  }

  /** Delivers a message that no member sent. */
  say(message: Message): void {
    this.#arrive(message);
  }

  reverse(): void {
    this.#flying.reverse();
  }

  cut(from: MemberId, to: MemberId): void {
    this.#cuts.add(`${from} ${to}`);
  }

  heal(): void {
    this.#cuts.clear();
  }

  /** Makes the disk accept writes without finishing them. */
  holdDisk(id: MemberId): void {
    this.#player(id).diskHolds = true;
  }

  /** Finishes the oldest `count` writes, or all of them and the later ones. */
  releaseDisk(id: MemberId, count: number | undefined): void {
    const player = this.#player(id);
    if (count === undefined) player.diskHolds = false;
    this.#finishWrites(player, count ?? player.pending.length);
    this.#pump(player);
  }

  /** Makes the state machine fall behind or catch up. */
  slowApply(id: MemberId, isLate: boolean): void {
    const player = this.#player(id);
    player.appliesLate = isLate;
    if (!isLate) this.#act(id, (node) => node.applied(player.handedToApply));
  }

  crash(id: MemberId): void {
    const player = this.#player(id);
    player.node = undefined;
    player.pending = [];
    this.#flying = this.#flying.filter(({ from }) => from !== id);
  }

  /** Crashes the member in the middle of the oldest write. Some of its entries survive, or its state without its log. */
  tear(id: MemberId, entriesKept: number): void {
    const { pending, disk } = this.#player(id);
    const write = pending.find((one) => one.write !== undefined)?.write;
    if (write !== undefined) disk.tear(write, write.snapshot && stateAt(write.snapshot), entriesKept);
    this.crash(id);
  }

  restart(id: MemberId): void {
    this.#start(this.#player(id));
  }

  /** Makes the state at `index` durable and removes the log up to there. */
  compact(id: MemberId, index: Index): void {
    const { disk } = this.#player(id);
    this.#act(id, (node) => {
      const meta = node.snapshotMeta(index);
      disk.checkpoint = { meta, state: new RegisterMachine(index, 0, new Int32Array(0)) };
      node.compact(index);
      disk.compact(meta);
    });
  }

  /** Delivers until no message is left. */
  settle(): void {
    this.#isQuiet = true;
    for (let hop = 0; this.#flying.length > 0 && hop < hopsMax; hop++) this.deliver();
    this.#isQuiet = false;
  }

  show(id: MemberId): void {
    const { node, disk } = this.#player(id);
    if (node === undefined) return this.#tell(`${id} is down`);
    const { commit, durable, membership, baseIndex, lastIndex, progress, uncommittedBytes } = node.status();
    const entries = disk.entries.map(describeEntry).join(" ");
    this.#tell(`${id} ${describeRole(node.softState)}, ${describeMembership(membership)}`);
    this.#tell(`  log ${baseIndex}–${lastIndex}, durable ${durable}, commit ${commit}, ${uncommittedBytes} bytes open`);
    const { base, hardState } = disk;
    this.#tell(`  disk term ${hardState.term} vote ${hardState.vote}: ${base.index}/${base.term} ${entries}`);
    for (const { member, state, match, active } of progress) {
      this.#tell(`  ${member}: ${state}, match ${match}${active ? "" : ", silent"}`);
    }
  }

  #start(player: Player): void {
    const { id, disk } = player;
    const random = { below: (limit: number) => (id - 1) % limit };
    const initial = disk.recover();
    player.node = new RawNode({ id, electionTicks, heartbeatTicks, random, limits: this.#limits }, initial);
    player.handedToApply = initial.applied;
    this.#pump(player);
  }

  #act(id: MemberId, action: (node: RawNode) => void): void {
    const player = this.#player(id);
    if (player.node === undefined) return this.#tell(`${id} is down`);
    this.#unlessBroken(player, action);
  }

  /** Runs an action. A broken rule stops the member, as it would stop the process. */
  #unlessBroken(player: Player, action: (node: RawNode) => void): void {
    if (player.node === undefined) return;
    try {
      action(player.node);
      this.#pump(player);
    } catch (error) {
      if (!(error instanceof RaftInvariantError)) throw error;
      this.#tell(`${player.id} stops: ${error.message}`);
      player.node = undefined;
    }
  }

  #arrive(message: Message): void {
    if (this.#cuts.has(`${message.from} ${message.to}`)) return;
    const player = this.#players.get(message.to);
    if (player !== undefined) this.#unlessBroken(player, (node) => node.step(message));
  }

  #pump(player: Player): void {
    const { node } = player;
    for (let turn = 0; node?.hasReady() === true; turn++) {
      must(turn < turnsMax, () => `member ${player.id} is never done`);
      const ready = node.ready();
      node.advance(ready);
      this.#tellReady(player, ready);
      for (const message of ready.messagesNow) this.#send(message);
      this.#queue(player, ready);
      if (!player.diskHolds) this.#finishWrites(player, player.pending.length);
      this.#apply(player, node, ready.committed);
    }
  }

  #queue(player: Player, { write, messagesAfterPersist }: Ready): void {
    if (write !== undefined || messagesAfterPersist.length > 0) {
      player.pending.push({ write, promises: messagesAfterPersist });
    }
  }

  #finishWrites(player: Player, count: number): void {
    for (const { write, promises } of player.pending.splice(0, count)) {
      if (write !== undefined) {
        player.disk.write(write, write.snapshot && stateAt(write.snapshot));
        if (player.diskHolds || !this.#isQuiet) this.#tell(`${player.id} stores ${describeWrite(write)}`);
        player.node?.persisted(write.mark);
      }
      for (const message of promises) this.#send(message);
    }
  }

  #apply(player: Player, node: RawNode, committed: readonly Entry[]): void {
    for (const entry of committed) {
      this.#tell(`${player.id} applies ${describeEntry(entry)}`);
      player.handedToApply = entry.index;
      if (!player.appliesLate) node.applied(entry.index);
    }
  }

  #tellReady({ id }: Player, { softState, readStates, proposalResults }: Ready): void {
    if (softState !== undefined) this.#tell(`${id} ${describeRole(softState)}`);
    for (const { id: request, outcome } of readStates) this.#tell(`${id} read #${request} ${describeOutcome(outcome)}`);
    for (const { outcome } of proposalResults) this.#tell(`${id} hears: ${describeOutcome(outcome)}`);
  }

  #send(message: Message): void {
    if (!this.#isQuiet) this.#tell(`  ${describeMessage(message)}`);
    this.#flying.push(message);
  }

  #take(from: MemberId | undefined, to: MemberId | undefined): Message[] {
    const taken = this.#flying.filter((message) => {
      return (from === undefined || message.from === from) && (to === undefined || message.to === to);
    });
    this.#flying = this.#flying.filter((message) => !taken.includes(message));
    return taken;
  }

  #player(id: MemberId): Player {
    const player = this.#players.get(id);
    if (player === undefined) throw new Error(`there is no member ${id}`);
    return player;
  }

  #tell(line: string): void {
    this.lines.push(line);
  }
}

function stateAt(meta: SnapshotMeta) {
  return { meta, state: new RegisterMachine(meta.index, 0, new Int32Array(0)) };
}
