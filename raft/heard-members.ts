import type { Entry } from "./core/entry.ts";
import type { MemberId } from "./core/ids.ts";
import type { LogView } from "./core/log.ts";
import { membersOf, sorted } from "./core/membership.ts";
import type { Ready } from "./core/ready.ts";

/**
 * Who is being removed is heard until that is committed: a leader that removes itself must see it done. A log that does not
 * name its own member tells of a time before that one came: until it has caught up, the seeds are heard too.
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

/** Whether the membership, or what is known to be committed of it, may be another one after this. */
export function changesMembership({ write, committed, softState }: Ready): boolean {
  const isChange = ({ kind }: Entry) => kind === "confChange";
  return (
    softState !== undefined ||
    write?.snapshot !== undefined ||
    committed.some(isChange) ||
    write?.entries.some(isChange) === true
  );
}
