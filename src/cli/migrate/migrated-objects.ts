import type { Entry, Key } from "../../api/entry.ts";
import { StartupError } from "../../process/startup-error.ts";
import { rootPrefix } from "../../storage/etcd/root-prefix.ts";
import {
  masterLeasePrefix,
  ownPrefix,
  quotaChargePrefix,
  rangePrefix,
  takeoverPrefix,
} from "../../storage/record-prefixes.ts";
import type { Store } from "../../storage/store.ts";
import type { Terminal } from "../terminal.ts";

/** Prefixes of records that servers make again at their start. They are not copied. */
const remadePrefixes: readonly Key[] = [masterLeasePrefix, rangePrefix, ownPrefix, quotaChargePrefix, takeoverPrefix];
/** Number of problems that are printed. */
const printedMax = 100;

export function isRecord({ key }: Entry): boolean {
  return remadePrefixes.some((prefix) => key.startsWith(prefix));
}

/** Returns the objects to copy, in the order of their keys. */
export function objectsOf(store: Pick<Store, "scan">): Entry[] {
  return store.scan(rootPrefix).filter((entry) => !isRecord(entry));
}

/** Prints the first problems. */
export function complainAbout(problems: readonly string[], terminal: Terminal): void {
  for (const problem of problems.slice(0, printedMax)) terminal.complain(problem);
  if (problems.length > printedMax) terminal.complain(`… and ${problems.length - printedMax} more`);
}

/** Prints the reasons why a migration is refused. @throws StartupError if there are any */
export function refuse(problems: readonly string[], terminal: Terminal): void {
  complainAbout(problems, terminal);
  if (problems.length === 0) return;
  throw new StartupError(`the migration is refused: ${problems.length} problems are listed above; nothing was changed`);
}

const progressIntervalMs = 1_000;

/** Returns a function that prints how many are done, once a second. @param what such as `objects copied` */
export function progressOf(what: string, total: number, terminal: Terminal): (done: number) => void {
  let toldMs = performance.now();
  return (done) => {
    if (performance.now() - toldMs < progressIntervalMs) return;
    toldMs = performance.now();
    terminal.complain(`${what}: ${done} of ${total}`);
  };
}
