import type { Entry } from "./core/entry.ts";
import type { MemberId } from "./core/ids.ts";
import type { LogView } from "./core/log.ts";
import { membersOf, sorted } from "./core/membership.ts";
import type { Ready } from "./core/ready.ts";

/**
 * Returns the members whose messages are accepted. A removed member is heard until its removal is committed, because a
 * leader that removes itself must see that. If the log does not name its own member, it is older than that member's
 * arrival, and the seeds are heard too until it has caught up.
 */
export function heardMembers(
  { commit, memberships }: Pick<LogView, "commit" | "memberships">,
  self: MemberId,
  seeds: readonly MemberId[],
): readonly MemberId[] {
  const settled = Math.max(
    0,
    memberships.findLastIndex(({ index }) => index <= commit),
  );
  const named = memberships.slice(settled).flatMap((dated) => membersOf(dated.membership));
  return sorted(named.includes(self) ? named : [...named, ...seeds]);
}

export function isSame(left: readonly MemberId[], right: readonly MemberId[] | undefined): boolean {
  return left.length === right?.length && left.every((member, position) => member === right[position]);
}

/** Reports whether this ready may change the membership, or the part that is known to be committed. */
export function changesMembership({ write, committed, softState }: Ready): boolean {
  const isChange = ({ kind }: Entry) => kind === "confChange";
  return (
    softState !== undefined ||
    write?.snapshot !== undefined ||
    committed.some(isChange) ||
    write?.entries.some(isChange) === true
  );
}
