import type { Entry } from "./core/entry.ts";
import type { MemberId } from "./core/ids.ts";
import type { LogView } from "./core/log.ts";
import { membersOf, sorted } from "./core/membership.ts";
import type { Ready } from "./core/ready.ts";

/**
 * Returns the members to listen to. A removed member is heard until its removal is committed: a leader that removes
 * itself must see it done. A log that does not name its own member is older than that member's arrival, so the seeds
 * are heard too until it has caught up.
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

/** Reports whether the membership, or the part known to be committed, may change with this ready. */
export function changesMembership({ write, committed, softState }: Ready): boolean {
  const isChange = ({ kind }: Entry) => kind === "confChange";
  return (
    softState !== undefined ||
    write?.snapshot !== undefined ||
    committed.some(isChange) ||
    write?.entries.some(isChange) === true
  );
}
