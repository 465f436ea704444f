import type { MemberId } from "../core/ids.ts";

/** A member that never was one is told apart from one that left, for as long as so many left. */
const removedMax = 10_000;

/**
 * Whether one that the log does not name may have become a member all the same: the log may be behind, and would stay so
 * if whoever leads by now could not be heard.
 */
export type MayHaveJoined = (member: MemberId) => boolean;

/** Who takes part, by this member's log, and who did. */
export class KnownMembers {
  readonly #mayHaveJoined: MayHaveJoined;
  #members = new Set<MemberId>();
  readonly #removed = new Set<MemberId>();

  constructor(mayHaveJoined: MayHaveJoined = () => false) {
    this.#mayHaveJoined = mayHaveJoined;
  }

  /** @returns who takes part no more */
  set(members: readonly MemberId[]): readonly MemberId[] {
    const next = new Set(members);
    const left = [...this.#members].filter((member) => !next.has(member));
    for (const member of left) this.#removed.add(member);
    for (const member of next) this.#removed.delete(member);
    for (const oldest of this.#removed) {
      if (this.#removed.size <= removedMax) break;
      this.#removed.delete(oldest);
    }
    this.#members = next;
    return left;
  }

  has(member: MemberId): boolean {
    return this.#members.has(member);
  }

  /** Why a member is not heard; undefined when it is. */
  refusalOf(member: MemberId): "removed" | "unknown" | undefined {
    if (this.#removed.has(member)) return "removed";
    return this.has(member) || this.#mayHaveJoined(member) ? undefined : "unknown";
  }
}
