import type { History } from "../history/history.ts";
import { Chronicle } from "./chronicle.ts";
import { finalLaw, setLaw } from "./final-law.ts";
import { narrow } from "./narrow.ts";
import { cachedReadLaw, listLaw } from "./read-law.ts";
import { registerLaw } from "./register-law.ts";
import type { Violation } from "./violation.ts";
import { watchLaw } from "./watch-law.ts";
import { writeLaw } from "./write-law.ts";

/** Checks a history of the changes after `from` up to `until` against every law. */
export function check(
  history: History,
  { from, until }: { readonly from: number; readonly until: number },
): Violation[] {
  const { operations, lists, cachedReads, watches, informers, finals } = history;
  const chronicle = new Chronicle(watches);
  if (finals.length === 0 || !chronicle.covers(from, until)) {
    const why =
      finals.length === 0 ? "no final state was read" : `not every change after ${from} up to ${until} is known`;
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
