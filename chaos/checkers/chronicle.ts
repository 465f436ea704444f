import type { Observed } from "../history/operation.ts";
import type { WatchRecord } from "../history/watch-record.ts";
import type { Violation } from "./violation.ts";

/** One revision of the store, as watches reported it. */
export interface Change {
  readonly revision: number;
  readonly key: string;
  /** Object; undefined after a deletion. */
  readonly object: Observed | undefined;
  readonly previous: Observed | undefined;
  /** Time when the first client saw it. */
  readonly seenMs: number;
}

interface Interval {
  readonly from: number;
  until: number;
}

/**
 * All changes to the objects of a run, in order, assembled from the watches without a filter. If two of them report the
 * same revision, they must agree.
 */
export class Chronicle {
  readonly changes: readonly Change[];
  readonly disagreements: readonly Violation[];
  readonly #byRevision: ReadonlyMap<number, Change>;
  readonly #byKey: ReadonlyMap<string, readonly Change[]>;
  readonly #covered: readonly Interval[];

  constructor(records: readonly WatchRecord[]) {
    const whole = records.filter(({ color }) => color === undefined);
    const merged = merge(whole);
    this.disagreements = merged.disagreements;
    this.changes = merged.changes;
    this.#byRevision = new Map(this.changes.map((change) => [change.revision, change]));
    this.#byKey = Map.groupBy(this.changes, ({ key }) => key);
    this.#covered = union(whole);
  }

  at(revision: number): Change | undefined {
    return this.#byRevision.get(revision);
  }

  ofKey(key: string): readonly Change[] {
    return this.#byKey.get(key) ?? [];
  }

  /** Reports whether every change after `from` up to `until` is known. */
  covers(from: number, until: number): boolean {
    return from >= until || this.#covered.some((interval) => interval.from <= from && interval.until >= until);
  }

  /** Returns the changes after `from`, up to `until`. */
  between(from: number, until: number): readonly Change[] {
    const start = this.#firstAfter(from);
    let end = start;
    while (end < this.changes.length && (this.changes[end] as Change).revision <= until) end++;
    return this.changes.slice(start, end);
  }

  stateAt(revision: number): Map<string, Observed> {
    const state = new Map<string, Observed>();
    for (const [key, changes] of this.#byKey) {
      const last = changes.findLast((change) => change.revision <= revision);
      if (last?.object !== undefined) state.set(key, last.object);
    }
    return state;
  }

  #firstAfter(revision: number): number {
    let low = 0;
    let high = this.changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.changes[middle] as Change).revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function merge(records: readonly WatchRecord[]): { changes: Change[]; disagreements: Violation[] } {
  const heard = new Map<number, { readonly event: WatchRecord["events"][number]; readonly by: WatchRecord }>();
  const disagreements: Violation[] = [];
  for (const by of records) {
    for (const event of by.events) {
      const { revision } = event.object;
      const known = heard.get(revision);
      if (known === undefined || known.event.seenMs > event.seenMs) heard.set(revision, { event, by });
      if (known === undefined || describe(known.event) === describe(event)) continue;
      const detail = `revision ${revision} is ${describe(known.event)} at member ${known.by.member} and ${describe(event)} at member ${by.member}`;
      disagreements.push({ law: "one history", detail });
    }
  }
  const last = new Map<string, Observed>();
  const changes = [...heard.values()]
    .map(({ event }) => event)
    .sort((left, right) => left.object.revision - right.object.revision)
    .map(({ type, object, seenMs }): Change => {
      const { key, revision } = object;
      const previous = last.get(key);
      if (type === "DELETED") last.delete(key);
      else last.set(key, object);
      return { revision, key, object: type === "DELETED" ? undefined : object, previous, seenMs };
    });
  return { changes, disagreements };
}

function describe({ type, object }: WatchRecord["events"][number]): string {
  return `${type === "DELETED" ? "deletion" : "write"} of ${object.key} ${object.value} ${object.uid}`;
}

/** Joins the intervals of the watches. Each reaches from its start to the last revision that it reported. */
function union(records: readonly WatchRecord[]): Interval[] {
  const sorted = records
    .map(({ from, until }) => ({ from, until }))
    .sort((left, right) => left.from - right.from || right.until - left.until);
  const joined: Interval[] = [];
  for (const interval of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && interval.from <= last.until) last.until = Math.max(last.until, interval.until);
    else joined.push(interval);
  }
  return joined;
}
