import { decodeConfEntry, encodeConfEntry } from "../core/conf-entry.ts";
import { type Index, noMember, toIndex, toTerm } from "../core/ids.ts";
import type { Membership } from "../core/membership.ts";
import { finishRestore } from "../finish-restore.ts";
import type { Log, LogContents } from "./log.ts";

export interface ForcedMembership {
  readonly membership: Membership;
  /** Durable index of the state machine. */
  readonly stateIndex: Index;
  /** Returns the data of normal entries after the change, which is at `index`. */
  readonly following?: (before: Membership, index: number) => readonly Uint8Array[];
}

/**
 * Makes a membership the newest of a log whose member is not running, without asking the others: the last resort if a
 * quorum is lost for good. Uncommitted entries of this log then count as committed, and entries that only the others had
 * are lost. None of the others may ever run again. It is one write, and repeating it is harmless.
 *
 * @returns the membership before
 * @throws Error for a log without members, whose member joined and has received nothing yet
 */
export async function forceMembership(log: Log, forced: ForcedMembership): Promise<Membership> {
  const { membership, stateIndex, following = () => [] } = forced;
  const contents = await finishRestore(log, stateIndex);
  const { hardState, base, entries } = contents;
  const before = newestMembership(contents);
  if (before.voters.length === 0) throw new Error("it has not received any state yet");
  const last = entries.at(-1)?.index ?? base.index;
  const term = toTerm(hardState.term + 1);
  const change = { kind: "confChange", data: encodeConfEntry({ membership, context: new Uint8Array() }) } as const;
  const behind = following(before, last + 1).map((data) => ({ kind: "normal", data }) as const);
  const added = [change, ...behind].map((entry, at) => ({ ...entry, index: toIndex(last + 1 + at), term }));
  await log.append({ hardState: { term, vote: noMember, commit: hardState.commit }, entries: added });
  return before;
}

function newestMembership({ base, entries }: LogContents): Membership {
  const newest = entries.findLast(({ kind }) => kind === "confChange");
  return newest === undefined ? base.membership : decodeConfEntry(newest.data).membership;
}
