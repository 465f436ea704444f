import type { Operation } from "../history/operation.ts";
import type { Change, Chronicle } from "./chronicle.ts";

/**
 * Settles what clients do not know with what the history shows, which makes the search for an order a small one: a write
 * that is not in it never happened; one that is in it had happened when anybody heard of that revision or a later one.
 * Only for a history that is known whole.
 */
export function narrow(operations: readonly Operation[], chronicle: Chronicle): Operation[] {
  const byValue = new Map<string, Change>();
  const byPrevious = new Map<number, Change>();
  for (const change of chronicle.changes) {
    if (change.object !== undefined) byValue.set(change.object.value, change);
    else if (change.previous !== undefined) byPrevious.set(change.previous.revision, change);
  }
  const claims = new Map<number, number>();
  for (const { request, outcome } of operations) {
    const isClaim = request.verb === "delete" && (outcome.kind === "unknown" || outcome.kind === "ok");
    if (isClaim && request.expected !== undefined) {
      claims.set(request.expected, (claims.get(request.expected) ?? 0) + (outcome.kind === "ok" ? Infinity : 1));
    }
  }
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
    const rivals = claims.get(request.expected) ?? 0;
    if (change === undefined || rivals === Infinity) return [];
    if (rivals > 1) return [operation];
    return [{ ...operation, outcome: { kind: "ok", object: undefined }, returnedMs: heard.of(change.revision) }];
  });
}

/** When somebody first heard of a revision or a later one. */
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
