import type { Entry as LogRecord } from "../../raft/core/entry.ts";
import { type Index, toIndex } from "../../raft/core/ids.ts";
import type { Machine } from "../../raft/testing/simulator/machine.ts";
import type { Command as NamedEffect } from "../../raft/testing/simulator/register-machine.ts";
import { EventHistory } from "../../src/storage/event-history.ts";
import { emptyState } from "../../src/storage/mvcc/state-record.ts";
import { type Effect, ReplicatedState } from "../../src/storage/replicated/replicated-state.ts";
import type { BatchId } from "../../src/storage/sessions.ts";
import type { Command } from "../../src/storage/store.ts";
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

  constructor(
    truth: LogWitness,
    mutation?: Mutation,
    state = new ReplicatedState(emptyState, [], []),
    history?: EventHistory,
  ) {
    this.state = state;
    this.history = history ?? new EventHistory();
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
    return new ReplicaMachine(this.#truth, this.#mutation, copy, new EventHistory(events));
  }

  apply(entry: LogRecord): NamedEffect | undefined {
    const effect = this.state.apply(entry, this.proposed);
    this.#truth.applied(entry, effect);
    if (effect === undefined) return undefined;
    this.#effects.push(effect);
    this.history.add(effect.events);
    if (effect.compacted) this.history.trim(this.state.objects);
    if (!effect.admitted) return undefined;
    const { origin, sequence } = effect.id;
    const [member, incarnation] = origin.split(".").map(Number) as [number, number];
    return { client: member * incarnationsMax + incarnation, sequence };
  }

  /** Returns the effects since the last call. */
  takeEffects(): readonly Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }
}
