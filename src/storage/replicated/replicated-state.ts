import type { Entry as LogRecord } from "../../../raft/index.ts";
import type { Entry, Key } from "../../api/entry.ts";
import type { MemberNumber, MemberRecord } from "../cluster.ts";
import { IndexCache } from "../mvcc/index-text.ts";
import type { StateRecord } from "../mvcc/state-record.ts";
import { type BatchId, Sessions } from "../sessions.ts";
import { StateMachine } from "../state-machine.ts";
import type { ApplyResult, Command, CorruptEntryError, StoreEvent } from "../store.ts";
import { IndexHashes } from "./index-hashes.ts";
import { type Decision, LogEntry } from "./log-entry.ts";

/** The replicas hold different states, so one of them has computed or stored something wrong. */
export class DivergenceError extends Error {
  override readonly name = "DivergenceError";
}

/** The outcome of an applied batch: one result per command, or the decision's result. */
export type Outcome = readonly ApplyResult[] | MemberRecord | undefined;

/** The effect of a log entry. */
export interface Effect {
  readonly id: BatchId;
  /** Whether the batch was applied. False if it was applied before or comes too late. */
  readonly admitted: boolean;
  readonly outcome: Outcome;
  readonly events: readonly StoreEvent[];
  /** Whether history may be removed now. */
  readonly compacted: boolean;
}

/**
 * Everything that the log decides: the objects, the proposers' sessions, and the members. Pure: the same entries give the
 * same state, the same effects and the same hash on every replica.
 */
export class ReplicatedState {
  readonly objects: StateMachine;
  readonly sessions: Sessions;
  readonly #members: Map<MemberNumber, MemberRecord>;
  readonly #corrupt: Map<Key, CorruptEntryError>;
  readonly #hashes = new IndexHashes();
  readonly #indexes = new IndexCache();
  #nextMember: number;
  #index: number;

  /** @param corrupt objects that this replica cannot read; they exist until they are replaced */
  constructor(record: StateRecord, entries: readonly Entry[], corrupt: readonly CorruptEntryError[]) {
    this.objects = new StateMachine({ ...record, entries });
    this.sessions = new Sessions(record.sessions);
    this.#members = new Map(record.members.map((member) => [member.id, member]));
    this.#corrupt = new Map(corrupt.map((error) => [error.key, error]));
    this.#nextMember = record.nextMember;
    this.#index = record.index;
  }

  /** The log index up to which everything is applied. */
  get index(): number {
    return this.#index;
  }

  get members(): ReadonlyMap<MemberNumber, MemberRecord> {
    return this.#members;
  }

  /**
   * Reports whether a member with this number may exist. Numbers are assigned once, in order, and the state applied here
   * may be old.
   */
  mayHaveJoined(id: MemberNumber): boolean {
    return this.#members.has(id) || id >= this.#nextMember;
  }

  /** Reports whether a member had this number and was removed. An old state learns of it later than others. */
  wasRemoved(id: MemberNumber): boolean {
    return id > 0 && !this.mayHaveJoined(id);
  }

  get corrupt(): ReadonlyMap<Key, CorruptEntryError> {
    return this.#corrupt;
  }

  record(): StateRecord {
    const { revision, compactedRevision, size, hash } = this.objects;
    return {
      index: this.#index,
      revision,
      compactedRevision,
      size: size + this.#corrupt.size,
      hash,
      sessions: this.sessions.records(),
      members: [...this.#members.values()],
      nextMember: this.#nextMember,
    };
  }

  /**
   * Applies the next entry of the log.
   * @param proposed returns the commands of a batch if they are still in memory, to avoid decoding them
   * @returns undefined for an entry of Raft itself
   * @throws UnknownLogEntryError, DivergenceError: this replica must stop
   */
  apply(entry: LogRecord, proposed: (id: BatchId) => readonly Command[] | undefined): Effect | undefined {
    this.#index = entry.index;
    const effect = entry.kind === "normal" ? this.#effect(new LogEntry(entry.data), proposed) : undefined;
    this.#hashes.note(entry.index, this.objects.hash);
    return effect;
  }

  #effect(entry: LogEntry, proposed: (id: BatchId) => readonly Command[] | undefined): Effect {
    const { id } = entry;
    if (!this.sessions.admit(id, this.#index)) {
      return { id, admitted: false, outcome: undefined, events: nothing, compacted: false };
    }
    if (entry.isDecision) {
      const decision = entry.decision();
      const compacted = decision.kind === "compact";
      return { id, admitted: true, outcome: this.#decide(decision), events: nothing, compacted };
    }
    const { results, events } = this.objects.apply(proposed(id) ?? entry.commands(this.#indexes));
    if (this.#corrupt.size > 0) for (const event of events) this.#corrupt.delete(event.entry.key);
    return { id, admitted: true, outcome: results, events, compacted: false };
  }

  #decide(decision: Decision): MemberRecord | undefined {
    switch (decision.kind) {
      case "compact":
        this.objects.compact(decision.revision);
        return undefined;
      case "member":
        return this.#setMember(decision.member);
      case "forgetMember":
        this.#members.delete(decision.id);
        return undefined;
      case "verify":
        this.#verify(decision);
        return undefined;
    }
  }

  #setMember(member: MemberRecord): MemberRecord {
    const numbered = member.id === 0 ? { ...member, id: this.#nextMember } : member;
    this.#nextMember = Math.max(this.#nextMember, numbered.id + 1);
    this.#members.set(numbered.id, numbered);
    return numbered;
  }

  #verify({ index, revision, hash }: Decision & { kind: "verify" }): void {
    const own = this.#hashes.at(index);
    // The checksums of objects that this replica cannot read are unknown.
    if (own === undefined || own === hash || this.#corrupt.size > 0) return;
    throw new DivergenceError(
      `the state at revision ${revision} differs from that of the other members: remove this member and let it join again`,
    );
  }
}

const nothing: readonly StoreEvent[] = [];
