import { assert } from "./assert.ts";
import { decodeConfEntry } from "./conf-entry.ts";
import type { Entry } from "./entry.ts";
import { entryBytes } from "./entry.ts";
import type { Index, Term } from "./ids.ts";
import { noTerm } from "./ids.ts";
import type { Membership } from "./membership.ts";
import type { SnapshotMeta } from "./snapshot.ts";

/** The last position at which two logs may agree, and its term. */
export interface LogPosition {
  readonly index: Index;
  readonly term: Term;
}

export interface DatedMembership {
  /** Index of the entry that introduced it; for the first one, the index of the base. */
  readonly index: Index;
  readonly membership: Membership;
}

/** The read-only part of a log. */
export type LogView = Pick<
  RaftLog,
  "base" | "commit" | "lastIndex" | "lastTerm" | "bytes" | "membership" | "termAt" | "memberships"
>;

/**
 * The log as this member knows it, durable or not:
 *
 *      … compacted … │ base+1  …  commit │ commit+1  …  last
 *               base ┘     never changes └ may be replaced by a leader of a later term
 *
 * The newest membership in the log is in force, committed or not (thesis §4.1). The log therefore keeps every membership
 * whose entry it holds, and returns to an earlier one when its tail is replaced.
 */
export class RaftLog {
  #base: LogPosition;
  #entries: Entry[];
  #bytes = 0;
  #commit: Index;
  /** Memberships in ascending order of index. The first is the base's. */
  #memberships: DatedMembership[];

  constructor(base: SnapshotMeta, entries: readonly Entry[], commit: Index) {
    this.#base = base;
    this.#entries = [];
    this.#commit = base.index;
    this.#memberships = [base];
    this.append(entries);
    this.commitTo(commit);
  }

  get base(): LogPosition {
    return this.#base;
  }

  get commit(): Index {
    return this.#commit;
  }

  get lastIndex(): Index {
    return (this.#base.index + this.#entries.length) as Index;
  }

  get lastTerm(): Term {
    return this.#entries.at(-1)?.term ?? this.#base.term;
  }

  /** Size of all entries held. */
  get bytes(): number {
    return this.#bytes;
  }

  get membership(): Membership {
    return this.#newest.membership;
  }

  /** All memberships that the log knows, ascending. The first is the base's, and the last is in force. */
  get memberships(): readonly DatedMembership[] {
    return this.#memberships;
  }

  /** Index of the membership in force. */
  get membershipIndex(): Index {
    return this.#newest.index;
  }

  /** The membership before the one in force; the same one if the log knows no other. */
  get membershipBefore(): Membership {
    return (this.#memberships.at(-2) ?? this.#newest).membership;
  }

  get #newest(): DatedMembership {
    const newest = this.#memberships.at(-1);
    assert(newest !== undefined, () => "the log has no membership");
    return newest;
  }

  /** Returns the term at `index`, or `undefined` before the base and after the last entry. */
  termAt(index: Index): Term | undefined {
    if (index === this.#base.index) return this.#base.term;
    return this.#entries[index - this.#base.index - 1]?.term;
  }

  entryAt(index: Index): Entry | undefined {
    return this.#entries[index - this.#base.index - 1];
  }

  /**
   * Returns the entries from `from` up to at most `to`: at least one if any exist, and more while all fit in
   * `bytesMax`.
   */
  slice(from: Index, to: Index, bytesMax: number): Entry[] {
    const start = from - this.#base.index - 1;
    assert(start >= 0, () => `entry ${from} is compacted; the base is ${this.#base.index}`);
    const end = Math.min(to - this.#base.index, this.#entries.length);
    const taken: Entry[] = [];
    let bytes = 0;
    for (let at = start; at < end; at++) {
      const entry = this.#entries[at] as Entry;
      bytes += entryBytes(entry);
      if (taken.length > 0 && bytes > bytesMax) break;
      taken.push(entry);
    }
    return taken;
  }

  /** Compares logs in Raft's order. Only a log that is at least as new gets a vote (thesis §3.6.1). */
  isAtMost(lastIndex: Index, lastTerm: Term): boolean {
    return lastTerm > this.lastTerm || (lastTerm === this.lastTerm && lastIndex >= this.lastIndex);
  }

  /**
   * Returns the last position at or before `index` whose term is at most `term`. Skips whole terms that cannot agree
   * (§3.5).
   */
  lastAgreeing({ index, term }: LogPosition): LogPosition {
    let at = Math.min(index, this.lastIndex) as Index;
    for (; at > this.#base.index; at--) {
      const here = this.termAt(at) as Term;
      if (here <= term) return { index: at, term: here };
    }
    return at === this.#base.index ? this.#base : { index: at, term: noTerm };
  }

  /** Returns the first of `entries` that this log does not hold, or `undefined` when it holds them all. */
  firstNew(entries: readonly Entry[]): Entry | undefined {
    return entries.find(({ index, term }) => this.termAt(index) !== term);
  }

  /** Appends entries after cutting the log at the first one's position. */
  append(entries: readonly Entry[]): void {
    const first = entries[0];
    if (first === undefined) return;
    assert(first.index > this.#commit, () => `entry ${first.index} would replace a committed one`);
    assert(first.index <= this.lastIndex + 1, () => `a gap in the log: ${this.lastIndex}, then ${first.index}`);
    this.#cutFrom(first.index);
    for (const entry of entries) this.#push(entry);
  }

  commitTo(index: Index): void {
    if (index <= this.#commit) return;
    assert(
      index <= this.lastIndex,
      () => `commit ${index} is beyond the last entry ${this.lastIndex}: the log lost it`,
    );
    this.#commit = index;
  }

  /** Removes the entries up to `index`, which is committed. */
  compact(index: Index): void {
    if (index <= this.#base.index) return;
    const base = this.describe(index);
    for (const entry of this.#entries.splice(0, index - this.#base.index)) this.#bytes -= entryBytes(entry);
    this.#base = base;
    this.#memberships = [base, ...this.#memberships.filter((dated) => dated.index > index)];
  }

  /** Begins the log again after a snapshot. */
  restore(snapshot: SnapshotMeta): void {
    assert(snapshot.index > this.#commit, () => `snapshot ${snapshot.index} is older than commit ${this.#commit}`);
    this.#base = snapshot;
    this.#entries = [];
    this.#bytes = 0;
    this.#commit = snapshot.index;
    this.#memberships = [snapshot];
  }

  /** Returns the description of a snapshot of the state at `index`. */
  describe(index: Index): SnapshotMeta {
    const term = this.termAt(index);
    assert(term !== undefined && index <= this.#commit, () => `no snapshot can be made at ${index}`);
    const membership = this.#memberships.findLast((dated) => dated.index <= index)?.membership;
    assert(membership !== undefined, () => `no membership is known at ${index}`);
    return { index, term, membership };
  }

  #cutFrom(index: Index): void {
    if (index > this.lastIndex) return;
    for (const entry of this.#entries.splice(index - this.#base.index - 1)) this.#bytes -= entryBytes(entry);
    while (this.#newest.index >= index) this.#memberships.pop();
  }

  #push(entry: Entry): void {
    assert(entry.index === this.lastIndex + 1, () => `a gap in the log: ${this.lastIndex}, then ${entry.index}`);
    assert(entry.term >= this.lastTerm, () => `entry ${entry.index} is of an earlier term than ${this.lastTerm}`);
    this.#entries.push(entry);
    this.#bytes += entryBytes(entry);
    if (entry.kind === "confChange") {
      this.#memberships.push({ index: entry.index, membership: decodeConfEntry(entry.data).membership });
    }
  }
}
