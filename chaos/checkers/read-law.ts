import type { Observed, Operation } from "../history/operation.ts";
import type { CachedRead, ListRead } from "../history/reads.ts";
import type { Chronicle } from "./chronicle.ts";
import type { Violation } from "./violation.ts";

/** Checks that a list is the state at its revision, and that the revision is as fresh as requested. */
export function listLaw(
  lists: readonly ListRead[],
  operations: readonly Operation[],
  chronicle: Chronicle,
): Violation[] {
  const acknowledged = new Acknowledged(operations);
  return lists.flatMap((list) => {
    const { client, member, revision, freshness, pages, objects } = list;
    const name = `${freshness.kind} list of ${client} at member ${member} in ${pages} pages, at ${revision}`;
    const stale = staleness(list, acknowledged);
    if (stale !== undefined) return [{ law: "fresh reads", detail: `${name}: ${stale}` }];
    const difference = stateDifference(chronicle.stateAt(revision), objects);
    return difference === undefined ? [] : [{ law: "lists", detail: `${name}: ${difference}` }];
  });
}

function staleness({ freshness, revision, invokedMs }: ListRead, acknowledged: Acknowledged): string | undefined {
  switch (freshness.kind) {
    case "any":
      return undefined;
    case "exact":
      return revision === freshness.revision ? undefined : `asked for exactly ${freshness.revision}`;
    case "notOlderThan":
      return revision >= freshness.revision ? undefined : `asked for nothing older than ${freshness.revision}`;
    case "consistent": {
      const newest = acknowledged.before(invokedMs);
      return revision >= newest ? undefined : `${newest} had been acknowledged before`;
    }
  }
}

/** Checks that a read of one object from memory is its state at some revision that is not before the requested one. */
export function cachedReadLaw(reads: readonly CachedRead[], chronicle: Chronicle): Violation[] {
  return reads.flatMap((read) => {
    const problem = cachedReadProblem(read, chronicle);
    if (problem === undefined) return [];
    const { client, member, key, notOlderThan } = read;
    const name = `${client} read ${key} at member ${member}, not older than ${notOlderThan}`;
    return [{ law: "cached reads", detail: `${name}: ${problem}` }];
  });
}

function cachedReadProblem({ key, notOlderThan, object }: CachedRead, chronicle: Chronicle): string | undefined {
  const changes = chronicle.ofKey(key);
  if (object === undefined) {
    const wasAbsent = changes.some(
      (change, place) => change.object === undefined && (changes[place + 1]?.revision ?? Infinity) > notOlderThan,
    );
    const wasNotYet = (changes[0]?.revision ?? Infinity) > notOlderThan;
    return wasAbsent || wasNotYet ? undefined : "it existed all the time from then on";
  }
  const place = changes.findIndex(({ revision }) => revision === object.revision);
  const found = changes[place]?.object;
  if (found === undefined || found.value !== object.value || found.uid !== object.uid) {
    return `${object.value} at ${object.revision} never was`;
  }
  const next = changes[place + 1];
  if (next === undefined || next.revision > notOlderThan) return undefined;
  return `${object.value} at ${object.revision} had been replaced at ${next.revision}`;
}

/** Returns the first difference, or undefined. */
export function stateDifference(
  expected: ReadonlyMap<string, Observed>,
  objects: readonly Observed[],
): string | undefined {
  const found = new Map(objects.map((object) => [object.key, object]));
  if (found.size !== objects.length) return "an object is in it twice";
  for (const [key, due] of expected) {
    const object = found.get(key);
    if (object === undefined) return `${key} is missing, ${due.value} at ${due.revision}`;
    if (object.revision !== due.revision || object.value !== due.value || object.uid !== due.uid) {
      return `${key} is ${object.value} at ${object.revision} instead of ${due.value} at ${due.revision}`;
    }
  }
  const extra = objects.find(({ key }) => !expected.has(key));
  return extra === undefined ? undefined : `${extra.key} should be absent, ${extra.value} at ${extra.revision}`;
}

/** The newest acknowledged revision at any time. */
class Acknowledged {
  readonly #times: number[] = [];
  readonly #newest: number[] = [];

  constructor(operations: readonly Operation[]) {
    const told = operations
      .flatMap(({ outcome, returnedMs }) =>
        outcome.kind === "ok" && outcome.object !== undefined
          ? [{ revision: outcome.object.revision, returnedMs }]
          : [],
      )
      .sort((left, right) => left.returnedMs - right.returnedMs);
    for (const { revision, returnedMs } of told) {
      this.#times.push(returnedMs);
      this.#newest.push(Math.max(revision, this.#newest.at(-1) ?? 0));
    }
  }

  before(timeMs: number): number {
    let low = 0;
    let high = this.#times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#times[middle] as number) < timeMs) low = middle + 1;
      else high = middle;
    }
    return this.#newest[low - 1] ?? 0;
  }
}
