import { decodeConfEntry, encodeConfEntry } from "../core/conf-entry.ts";
import { noMember, toIndex, toTerm } from "../core/ids.ts";
import type { Membership } from "../core/membership.ts";
import type { Log, LogContents } from "./log.ts";

/**
 * Makes `membership` the newest of a log whose member is not running, whatever the others think: the way out when a quorum is
 * lost for good. What this log holds and was not committed counts as committed from then on, and what only the others had is lost;
 * none of them may ever run again. One write; asking twice does no harm.
 *
 * @param following normal entries behind the change
 * @returns the membership before
 * @throws Error when the state machine is ahead of the log: a start of the member puts that right
 */
export async function forceMembership(
  log: Log,
  membership: Membership,
  following: (before: Membership, index: number) => readonly Uint8Array[] = () => [],
): Promise<Membership> {
  const { hardState, base, entries, expected } = log.recovered;
  const last = entries.at(-1)?.index ?? base.index;
  if (expected !== undefined && expected.index > last) {
    throw new Error("a snapshot was being installed: start the member once, which ends that, and try again");
  }
  const before = newestMembership(log.recovered);
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
