import type { Entry as LogRecord } from "../../raft/core/entry.ts";
import { must } from "../../raft/testing/simulator/violation.ts";
import type { Entry } from "../../src/api/entry.ts";
import { IndexCache } from "../../src/storage/mvcc/index-text.ts";
import { LogEntry } from "../../src/storage/replicated/log-entry.ts";
import type { Effect } from "../../src/storage/replicated/replicated-state.ts";
import type { BatchId } from "../../src/storage/sessions.ts";
import type { ApplyResult, Command, StoreEvent } from "../../src/storage/store.ts";
import { configMaps, readBody } from "./simulated-object.ts";

/** An object from one revision on. */
export interface Version {
  readonly key: string;
  readonly revision: number;
  readonly createRevision: number;
  readonly operation: number;
  readonly color: string;
}

export interface Change {
  readonly type: StoreEvent["type"];
  /** For DELETED, the last state with the revision of the deletion. */
  readonly version: Version;
  readonly previous: Version | undefined;
}

interface Decided {
  readonly admitted: boolean;
  /** One line per result and event, or the outcome as JSON. */
  readonly text: string;
}

/** The position of an operation's command in the log, and its result. */
export interface Verdict {
  readonly index: number;
  /** Undefined if its guard failed. */
  readonly revision: number | undefined;
}

/**
 * The state according to the log, computed independently from its entries, for comparison with replicas and their
 * answers. Each element of `changes` is one revision.
 */
export class Truth {
  revision = 1;
  compacted = 1;
  readonly changes: Change[] = [];
  readonly #current = new Map<string, Version>();
  readonly #changesOf = new Map<string, Change[]>();
  readonly #decided: (Decided | undefined)[] = [];
  readonly #terms: number[] = [];
  readonly #dropped: (readonly [index: number, term: number])[] = [];
  readonly #admitted = new Set<string>();
  /** Sequence below which batches were given up, by origin. */
  readonly #floors = new Map<string, number>();
  readonly #verdicts = new Map<number, Verdict>();
  readonly #indexes = new IndexCache();
  #index = 0;

  /** Records that a replica has applied this entry with this effect. */
  applied(entry: LogRecord, effect: Effect | undefined): void {
    const { index } = entry;
    must(index <= this.#index + 1, () => `entry ${index} is applied before ${this.#index + 1}`);
    if (index > this.#index) this.#take(entry, effect);
    const decided = this.#decided[index];
    const admitted = effect?.admitted ?? false;
    must(admitted === (decided?.admitted ?? false), () => `entry ${index}: admitted is ${admitted}`);
    const text = effect === undefined ? "" : textOfEffect(effect);
    must(text === (decided?.text ?? ""), () => `entry ${index} did ${text}, and should have done ${decided?.text}`);
  }

  /** Records that a caller was told that a leader's entry will not happen. */
  dropped(index: number, term: number): void {
    this.#dropped.push([index, term]);
  }

  checkDropped(): void {
    for (const [index, term] of this.#dropped) {
      must(this.#terms[index] !== term, () => `entry ${index} of term ${term} was said to be dropped, and happened`);
    }
  }

  /** Returns the outcome of a client's command, as far as the log has reached. */
  verdictOn(operation: number): Verdict | undefined {
    return this.#verdicts.get(operation);
  }

  changeAt(revision: number): Change | undefined {
    return this.changes[revision - 2];
  }

  at(key: string, revision: number): Version | undefined {
    const change = this.#changesOf.get(key)?.findLast(({ version }) => version.revision <= revision);
    return change === undefined || change.type === "DELETED" ? undefined : change.version;
  }

  /** Returns the states of an object from one revision on. */
  since(key: string, revision: number): (Version | undefined)[] {
    const changes = this.#changesOf.get(key) ?? [];
    const later = changes.filter(({ version }) => version.revision > revision);
    return [this.at(key, revision), ...later.map(({ type, version }) => (type === "DELETED" ? undefined : version))];
  }

  /** Returns the number of its deletions. */
  deletionsOf(key: string): number {
    return (this.#changesOf.get(key) ?? []).filter(({ type }) => type === "DELETED").length;
  }

  /** Returns the objects in key order. */
  listAt(prefix: string, revision: number): Version[] {
    const found: Version[] = [];
    for (const key of this.#changesOf.keys()) {
      const version = key.startsWith(prefix) ? this.at(key, revision) : undefined;
      if (version !== undefined) found.push(version);
    }
    return found.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  #take(entry: LogRecord, effect: Effect | undefined): void {
    this.#index = entry.index;
    this.#terms[entry.index] = entry.term;
    if (entry.kind !== "normal") return;
    const record = new LogEntry(entry.data);
    const admitted = this.#admits(record.id);
    this.#decided[entry.index] = { admitted, text: admitted ? this.#decide(record, effect) : textOfNothing };
  }

  /** Admits a batch once, and not at all if its proposer has said before that it no longer waits for it. */
  #admits({ origin, sequence, floor }: BatchId): boolean {
    const name = `${origin} ${sequence}`;
    const given = this.#floors.get(origin) ?? 0;
    if (sequence < given || this.#admitted.has(name)) return false;
    this.#admitted.add(name);
    this.#floors.set(origin, Math.max(given, floor));
    return true;
  }

  #decide(record: LogEntry, effect: Effect | undefined): string {
    if (!record.isDecision) {
      const first = this.revision;
      const results = record.commands(this.#indexes).map((command) => this.#command(command));
      return [...results, ...this.changes.slice(first - 1).map(textOfChange)].join();
    }
    const decision = record.decision();
    if (decision.kind === "compact") {
      this.compacted = Math.max(this.compacted, Math.min(decision.revision, this.revision));
    }
    // The first replica determines the number of a member, and the others must agree.
    return effect === undefined ? "" : textOfEffect(effect);
  }

  #command({ key, expect, operation }: Command): string {
    const current = this.#current.get(key);
    const isMet =
      expect.kind === "any" ||
      (expect.kind === "absent" ? current === undefined : current?.revision === expect.revision);
    const { prefix, suffix } = operation.kind === "put" ? operation.body : operation.last;
    const told = readBody(Buffer.concat([prefix, Buffer.from("0"), suffix]));
    const { operation: number } = told;
    // A Registry retries if its guard failed, and leaves the state unchanged that it deletes.
    const triesAgain = key.startsWith(configMaps);
    const names = !triesAgain || operation.kind === "put";
    const before = this.#verdicts.get(number);
    const isFirst = before === undefined || (triesAgain && before.revision === undefined) || !names;
    must(isFirst, () => `operation ${number} stands in the log at ${before?.index} and ${this.#index}`);
    if (!isMet || (operation.kind === "delete" && current === undefined)) {
      if (names) this.#verdicts.set(number, { index: this.#index, revision: undefined });
      return `rejected ${current?.revision}`;
    }
    const revision = ++this.revision;
    if (names) this.#verdicts.set(number, { index: this.#index, revision });
    const version = { key, revision, createRevision: current?.createRevision ?? revision, color: told.color };
    const { createRevision, color } = version;
    this.#change({
      type: operation.kind === "delete" ? "DELETED" : current === undefined ? "ADDED" : "MODIFIED",
      version: { key, revision, createRevision, operation: number, color },
      previous: current,
    });
    return `applied ${revision}`;
  }

  #change(change: Change): void {
    const { key } = change.version;
    this.changes.push(change);
    if (change.type === "DELETED") this.#current.delete(key);
    else this.#current.set(key, change.version);
    const changes = this.#changesOf.get(key);
    if (changes === undefined) this.#changesOf.set(key, [change]);
    else changes.push(change);
  }
}

const textOfNothing = "nothing";

function textOfEffect({ admitted, outcome, events }: Effect): string {
  if (!admitted) return textOfNothing;
  if (!isResults(outcome)) return JSON.stringify(outcome ?? null);
  return [...outcome.map(textOfResult), ...events.map(textOfEvent)].join();
}

function isResults(outcome: Effect["outcome"]): outcome is readonly ApplyResult[] {
  return Array.isArray(outcome);
}

function textOfResult(result: ApplyResult): string {
  switch (result.kind) {
    case "applied":
      return `applied ${result.revision}`;
    case "rejected":
      return `rejected ${result.current?.revision}`;
    case "outdated":
      return result.kind;
  }
}

function textOfEvent({ type, entry, previous }: StoreEvent): string {
  return `${type} ${textOf(versionOf(entry))} after ${previous?.revision}`;
}

function textOfChange({ type, version, previous }: Change): string {
  return `${type} ${textOf(version)} after ${previous?.revision}`;
}

/** Checks a replica's object: its bytes must agree with the fields beside them. */
export function versionOf({ key, revision, createRevision, body }: Entry): Version {
  const told = readBody(body);
  must(told.revision === revision, () => `${key} at ${revision} says of itself that it is at ${told.revision}`);
  return { key, revision, createRevision, operation: told.operation, color: told.color };
}

export function textOf(version: Version | undefined): string {
  if (version === undefined) return "nothing";
  const { key, revision, createRevision, operation, color } = version;
  return `${key}@${revision} since ${createRevision} by ${operation} ${color}`;
}
