import type { Entry as LogRecord } from "../../raft/core/entry.ts";
import { type Index, toIndex } from "../../raft/core/ids.ts";
import type { Machine } from "../../raft/testing/simulator/machine.ts";
import type { Command as NamedEffect } from "../../raft/testing/simulator/register-machine.ts";
import type { SeededRandom } from "../../raft/testing/simulator/seeded-random.ts";
import { EventHistory } from "../../src/storage/event-history.ts";
import type { HistoryReader } from "../../src/storage/mvcc/history-reader.ts";
import { emptyState } from "../../src/storage/mvcc/state-record.ts";
import { type Effect, ReplicatedState } from "../../src/storage/replicated/replicated-state.ts";
import type { BatchId } from "../../src/storage/sessions.ts";
import type { Command } from "../../src/storage/store.ts";
import { DamagedDisk } from "./damaged-disk.ts";
import type { Mutation } from "./mutation.ts";

/** Follows the log: every replica reports each entry that it applies. */
export interface LogWitness {
  applied(entry: LogRecord, effect: Effect | undefined): void;
}

/** Origins of proposers are `<member>.<incarnation>`. No member starts this often. */
const incarnationsMax = 10_000;

export function originOf(member: number, incarnation: number): string {
  return `${member}.${incarnation}`;
}

/** The state and history of a replica. Every operation is compared with the truth. */
export class ReplicaMachine implements Machine {
  readonly state: ReplicatedState;
  readonly history: EventHistory;
  readonly #truth: LogWitness;
  readonly #mutation: Mutation | undefined;
  /** The commands of a batch that this process proposed. */
  proposed: (id: BatchId) => readonly Command[] | undefined = () => undefined;
  #effects: Effect[] = [];
  #disk: DamagedDisk | undefined;

  constructor(
    truth: LogWitness,
    mutation?: Mutation,
    state = new ReplicatedState(emptyState, [], []),
    history?: EventHistory,
    disk?: DamagedDisk,
  ) {
    this.state = state;
    this.history = history ?? new EventHistory();
    this.#disk = disk;
    this.#truth = truth;
    this.#mutation = mutation;
    if (mutation === "sessionsAdmitTwice") state.sessions.admit = () => true;
  }

  get index(): Index {
    return toIndex(this.state.index);
  }

  get hash(): number {
    const { hash, revision, compactedRevision } = this.state.objects;
    return (hash * 7 + revision * 3 + compactedRevision) % 2 ** 51;
  }

  clone(): ReplicaMachine {
    const { state } = this;
    const record = { ...state.record(), ...(this.#mutation === "sessionsNotInSnapshot" ? { sessions: [] } : {}) };
    const events = this.#mutation === "historyNotInSnapshot" ? [] : this.history.events;
    const copy = new ReplicatedState(structuredClone(record), state.objects.scan(""), []);
    return new ReplicaMachine(this.#truth, this.#mutation, copy, new EventHistory(events), this.#disk);
  }

  get isDamaged(): boolean {
    return this.#disk !== undefined;
  }

  damaged(random: SeededRandom): ReplicaMachine | undefined {
    const start = DamagedDisk.start(this, random, this.#mutation);
    if (start === undefined) return undefined;
    const { record, entries, corrupt } = start.opened;
    const state = new ReplicatedState(record, entries, corrupt);
    return new ReplicaMachine(this.#truth, this.#mutation, state, this.history, start.disk);
  }

  /** Reader of the history on the damaged disk; undefined if the disk has no damage. */
  get damagedHistory(): HistoryReader | undefined {
    return this.#disk?.reader(() => this);
  }

  apply(entry: LogRecord): NamedEffect | undefined {
    const effect = this.state.apply(entry, this.proposed);
    this.#truth.applied(entry, effect);
    if (effect === undefined) return undefined;
    this.#effects.push(effect);
    this.history.add(effect.events);
    if (effect.compacted) this.#trim();
    if (!effect.admitted) return undefined;
    const { origin, sequence } = effect.id;
    const [member, incarnation] = origin.split(".").map(Number) as [number, number];
    return { client: member * incarnationsMax + incarnation, sequence };
  }

  #trim(): void {
    const { objects } = this.state;
    this.history.trim(objects);
    // Everything that the damaged disk held is swept, or was written again.
    if (this.#disk !== undefined && objects.compactedRevision >= this.#disk.flushed) this.#disk = undefined;
  }

  /** Returns the effects since the last call. */
  takeEffects(): readonly Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
