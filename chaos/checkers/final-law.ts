import type { FinalState } from "../history/history.ts";
import type { Observed, Operation } from "../history/operation.ts";
import type { InformerState, WatchRecord } from "../history/watch-record.ts";
import type { Chronicle } from "./chronicle.ts";
import { stateDifference } from "./read-law.ts";
import type { Violation } from "./violation.ts";

/** Checks that after recovery every member and every informer holds the state that the history leads to. */
export function finalLaw(
  finals: readonly FinalState[],
  informers: readonly InformerState[],
  records: readonly WatchRecord[],
  chronicle: Chronicle,
): Violation[] {
  const colors = new Map(records.map(({ watcher, color }) => [watcher, color]));
  const members = finals.flatMap(({ member, revision, objects }): Violation[] => {
    const difference = stateDifference(chronicle.stateAt(revision), objects);
    return difference === undefined ? [] : [{ law: "final state", detail: `member ${member}: ${difference}` }];
  });
  const followers = informers.flatMap(({ watcher, revision, objects }): Violation[] => {
    const color = colors.get(watcher);
    const difference = stateDifference(withColor(chronicle.stateAt(revision), color), objects);
    return difference === undefined ? [] : [{ law: "informers", detail: `${watcher}: ${difference}` }];
  });
  return [...members, ...followers];
}

/** Checks that every append to a set is there once, and that no rejected append is there. */
export function setLaw(finals: readonly FinalState[], operations: readonly Operation[]): Violation[] {
  const [final] = finals;
  if (final === undefined) return [];
  return final.objects.flatMap(({ key, elements }) => {
    if (elements.length === 0) return [];
    const found = new Set(elements);
    const appends = operations.filter((operation) => operation.key === key && "value" in operation.request);
    const problems = appends.flatMap(({ request, outcome }) => {
      const value = "value" in request ? request.value : "";
      if (outcome.kind === "ok" && !found.has(value)) return [`${value} was acknowledged and is lost`];
      if (outcome.kind !== "ok" && outcome.kind !== "unknown" && found.has(value)) {
        return [`${value} was ${outcome.kind} and is present`];
      }
      return [];
    });
    if (found.size !== elements.length) problems.push("an element is present twice");
    return problems.map((problem) => ({ law: "sets", detail: `${key}: ${problem}` }));
  });
}

function withColor(state: Map<string, Observed>, color: string | undefined): Map<string, Observed> {
  return color === undefined ? state : new Map([...state].filter(([, object]) => object.color === color));
}
