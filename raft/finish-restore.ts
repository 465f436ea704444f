import { type Index, noMember } from "./core/ids.ts";
import type { Log, LogContents } from "./storage/log.ts";

/**
 * Returns the contents of the log, repaired if the process ended after the state machine had restored a snapshot and
 * before the log recorded it. The log then begins again after the snapshot.
 */
export async function finishRestore(log: Log, stateIndex: Index): Promise<LogContents> {
  const { hardState, base, entries, expected } = log.recovered;
  const kept = { hardState, base, entries };
  if (expected === undefined || expected.index !== stateIndex || expected.index <= base.index) return kept;
  const held = entries[expected.index - base.index - 1];
  if (held?.term === expected.term) return kept;
  // The member learns of this term only now, so it has given no vote in it.
  const known = hardState.term >= expected.term ? hardState : { term: expected.term, vote: noMember };
  const renewed = { ...known, commit: expected.index };
  await log.append({ snapshot: expected, hardState: renewed, entries: [] });
  return { hardState: renewed, base: expected, entries: [] };
}
