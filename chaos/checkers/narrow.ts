import type { Operation } from "../history/operation.ts";
import type { Change, Chronicle } from "./chronicle.ts";

/**
 * Resolves unknown outcomes with the history, to keep the search for an order small. A write that is not in the history
 * never happened. A write in it happened before any client saw that revision or a later one. Requires a complete history.
 */
export function narrow(operations: readonly Operation[], chronicle: Chronicle): Operation[] {
  const byValue = new Map<string, Change>();
  const byPrevious = new Map<number, Change>();
  for (const change of chronicle.changes) {
    if (change.object !== undefined) byValue.set(change.object.value, change);
    else if (change.previous !== undefined) byPrevious.set(change.previous.revision, change);
  }
  const rivals = new Rivals(operations);
  const heard = new HeardOf(operations, chronicle.changes);
  return operations.flatMap((operation): Operation[] => {
    const { request, outcome } = operation;
    if (outcome.kind !== "unknown") return [operation];
    if (request.verb === "get") return [];
    if (request.verb !== "delete") {
      const change = byValue.get(request.value);
      if (change === undefined) return [];
      return [{ ...operation, outcome: { kind: "ok", object: change.object }, returnedMs: heard.of(change.revision) }];
    }
    if (request.expected === undefined) return [operation];
    const change = byPrevious.get(request.expected);
    if (change === undefined || rivals.didIt(request.expected)) return [];
    const returnedMs = heard.of(change.revision);
    // A client saw that deletion before this one was requested.
    if (returnedMs < operation.invokedMs) return [];
    if (rivals.mayHaveDoneIt(operation.key, request.expected)) return [operation];
    return [{ ...operation, outcome: { kind: "ok", object: undefined }, returnedMs }];
  });
}

/** Returns the first time that a client saw a revision or a later one. */
class HeardOf {
  readonly #revisions: number[] = [];
  readonly #times: number[] = [];

  constructor(operations: readonly Operation[], changes: readonly Change[]) {
    const told = operations.flatMap(({ outcome, returnedMs }) =>
      outcome.kind === "ok" && outcome.object !== undefined
        ? [{ revision: outcome.object.revision, timeMs: returnedMs }]
        : [],
    );
    const seen = changes.map(({ revision, seenMs }) => ({ revision, timeMs: seenMs }));
    let earliest = Infinity;
    for (const { revision, timeMs } of [...told, ...seen].sort((left, right) => right.revision - left.revision)) {
      earliest = Math.min(earliest, timeMs);
      this.#revisions.push(revision);
      this.#times.push(earliest);
    }
    this.#revisions.reverse();
    this.#times.reverse();
  }

  of(revision: number): number {
    let low = 0;
    let high = this.#revisions.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#revisions[middle] as number) < revision) low = middle + 1;
      else high = middle;
    }
    return this.#times[low] ?? Infinity;
  }
}

/** Returns the other clients that may have deleted an object. */
class Rivals {
  readonly #acknowledged = new Set<number>();
  readonly #unknown = new Map<number, number>();
  readonly #unconditional = new Set<string>();

  constructor(operations: readonly Operation[]) {
    for (const { key, request, outcome } of operations) {
      if (request.verb !== "delete" || (outcome.kind !== "ok" && outcome.kind !== "unknown")) continue;
      const { expected } = request;
      if (expected === undefined) this.#unconditional.add(key);
      else if (outcome.kind === "ok") this.#acknowledged.add(expected);
      else this.#unknown.set(expected, (this.#unknown.get(expected) ?? 0) + 1);
    }
  }

  /** Reports whether another deletion that named the revision was acknowledged. */
  didIt(expected: number): boolean {
    return this.#acknowledged.has(expected);
  }

  mayHaveDoneIt(key: string, expected: number): boolean {
    return this.#unconditional.has(key) || (this.#unknown.get(expected) ?? 0) > 1;
  }
}
