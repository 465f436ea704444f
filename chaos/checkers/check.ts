import type { History } from "../history/history.ts";
import { Chronicle } from "./chronicle.ts";
import { finalLaw, setLaw } from "./final-law.ts";
import { narrow } from "./narrow.ts";
import { cachedReadLaw, listLaw } from "./read-law.ts";
import { registerLaw } from "./register-law.ts";
import type { Violation } from "./violation.ts";
import { watchLaw } from "./watch-law.ts";
import { writeLaw } from "./write-law.ts";

/** Holds a history against everything that is promised. `from` is the revision before the first of its objects. */
export function check(history: History, from: number): Violation[] {
  const { operations, lists, cachedReads, watches, informers, finals } = history;
  const chronicle = new Chronicle(watches);
  const last = Math.max(from, ...finals.map(({ revision }) => revision));
  if (finals.length === 0 || !chronicle.covers(from, last)) {
    const why =
      finals.length === 0 ? "no final state was read" : `not every change after ${from} up to ${last} is known`;
    return [...chronicle.disagreements, { law: "one history", detail: `undecided: ${why}` }];
  }
  return [
    ...chronicle.disagreements,
    ...writeLaw(operations, chronicle),
    ...watchLaw(watches, chronicle),
    ...listLaw(lists, operations, chronicle),
    ...cachedReadLaw(cachedReads, chronicle),
    ...finalLaw(finals, informers, watches, chronicle),
    ...setLaw(finals, operations),
    ...registerLaw(narrow(operations, chronicle)),
  ];
}
