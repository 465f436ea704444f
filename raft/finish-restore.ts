import { noMember, type Index } from "./core/ids.ts";
import type { Log, LogContents } from "./storage/log.ts";

/**
 * What the log holds, put right where the process ended after the state machine had restored a snapshot and before the
 * log knew: then the log begins anew behind the snapshot.
 */
export async function finishRestore(log: Log, stateIndex: Index): Promise<LogContents> {
  const { hardState, base, entries, expected } = log.recovered;
  const kept = { hardState, base, entries };
  if (expected === undefined || expected.index !== stateIndex || expected.index <= base.index) return kept;
  const held = entries[expected.index - base.index - 1];
  if (held?.term === expected.term) return kept;
  // Of a term that it had not heard of, it knows now; nobody got its vote there.
  const known = hardState.term >= expected.term ? hardState : { term: expected.term, vote: noMember };
  const renewed = { ...known, commit: expected.index };
  await log.append({ snapshot: expected, hardState: renewed, entries: [] });
  return { hardState: renewed, base: expected, entries: [] };
}
