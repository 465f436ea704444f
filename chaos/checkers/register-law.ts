import type { Operation } from "../history/operation.ts";
import { absent, linearize, type State, type Step } from "./linearizability.ts";
import type { Violation } from "./violation.ts";

/** Checks that every object alone is a linearizable register with compare-and-set by revision. */
export function registerLaw(operations: readonly Operation[]): Violation[] {
  const byKey = Map.groupBy(operations, ({ key }) => key);
  return [...byKey].flatMap(([key, ofKey]) => checkKey(key, ofKey));
}

function checkKey(key: string, operations: readonly Operation[]): Violation[] {
  const violation = (detail: string): Violation[] => [{ law: "linearizability", detail: `${key}: ${detail}` }];
  const writes = new Writes(operations);
  if (writes.contradiction !== undefined) return violation(writes.contradiction);
  const taken = operations.flatMap((operation) => {
    const step = stepOf(operation, writes);
    return step === undefined ? [] : [{ operation, step }];
  });
  const verdict = linearize(taken.map(({ step }) => step));
  switch (verdict.kind) {
    case "linearizable":
      return [];
    case "undecided":
      return violation(`undecided: ${verdict.why}`);
    case "violation": {
      const { operation } = taken[verdict.at] as (typeof taken)[number];
      const possible = verdict.states.map((state) => writes.nameOf(state)).join(" or ");
      return violation(`${describe(operation)} fits nowhere: it found ${possible}`);
    }
  }
}

/** Finds the write of each revision, from all answers. */
class Writes {
  readonly #byValue = new Map<string, State>();
  readonly #byRevision = new Map<number, State>();
  readonly #values: string[] = ["absent"];
  /** Two answers that no order can explain. */
  readonly contradiction: string | undefined;

  constructor(operations: readonly Operation[]) {
    for (const { request } of operations) {
      if (!("value" in request)) continue;
      this.#byValue.set(request.value, this.#values.length);
      this.#values.push(request.value);
    }
    this.contradiction = this.#learn(operations);
  }

  ofValue(value: string): State | undefined {
    return this.#byValue.get(value);
  }

  /** Returns the state of a revision, or -1, which equals no state, for an unseen revision. */
  ofRevision(revision: number): State {
    return this.#byRevision.get(revision) ?? -1;
  }

  nameOf(state: State): string {
    return this.#values[state] ?? "?";
  }

  #learn(operations: readonly Operation[]): string | undefined {
    const revisions = new Map<State, number>();
    for (const operation of operations) {
      const { outcome, request } = operation;
      if (outcome.kind !== "ok" || outcome.object === undefined) continue;
      const { value, revision } = outcome.object;
      const state = this.#byValue.get(value);
      if (state === undefined) return `${describe(operation)}: nobody wrote that value`;
      if ("value" in request && request.value !== value) return `${describe(operation)}: the answer has another value`;
      const known = revisions.get(state) ?? revision;
      if (known !== revision) return `${describe(operation)}: it was seen at revision ${known} as well`;
      const other = this.#byRevision.get(revision) ?? state;
      if (other !== state) return `${describe(operation)}: at that revision it was ${this.nameOf(other)}`;
      revisions.set(state, revision);
      this.#byRevision.set(revision, state);
    }
    return undefined;
  }
}

/** Returns the step of an operation, or undefined when it contains no information. */
function stepOf(operation: Operation, writes: Writes): Step | undefined {
  const { invokedMs: callMs, outcome, request } = operation;
  const observe = (allows: Step["allows"]) => ({ callMs, returnMs: operation.returnedMs, allows, next: undefined });
  const expected = "expected" in request && request.expected !== undefined ? request.expected : undefined;
  switch (outcome.kind) {
    case "refused":
      return undefined;
    case "absent":
      return observe((state) => state === absent);
    case "exists":
      return observe((state) => state !== absent);
    case "conflict": {
      if (expected === undefined) return undefined;
      const named = writes.ofRevision(expected);
      return observe((state) => state !== absent && state !== named);
    }
  }
  const returnMs = outcome.kind === "unknown" ? Infinity : operation.returnedMs;
  if (request.verb === "get") {
    if (outcome.kind === "unknown") return undefined;
    const found = writes.ofValue(outcome.object?.value ?? "");
    return observe((state) => state === found);
  }
  const next = request.verb === "delete" ? absent : writes.ofValue(request.value);
  const named = expected === undefined ? undefined : writes.ofRevision(expected);
  const allows = (state: State) => {
    if (request.verb === "create") return state === absent;
    return named === undefined ? state !== absent : state === named;
  };
  return { callMs, returnMs, allows, next };
}

function describe({ client, member, request, outcome, invokedMs, returnedMs }: Operation): string {
  const value = "value" in request ? ` ${request.value}` : "";
  const expected = "expected" in request && request.expected !== undefined ? ` if at ${request.expected}` : "";
  const object = "object" in outcome && outcome.object !== undefined ? outcome.object : undefined;
  const answer = object === undefined ? outcome.kind : `${object.value} at ${object.revision}`;
  const times = `${invokedMs.toFixed(1)}–${returnedMs.toFixed(1)} ms`;
  return `${request.verb}${value}${expected} by ${client} at member ${member} (${times}) → ${answer}`;
}
