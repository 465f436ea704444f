import type { MemberId } from "../core/ids.ts";

/** Number of removed members that are remembered, to tell them from unknown ones. */
const removedMax = 10_000;

/**
 * Reports whether a member that the log does not name may still exist. The log may be behind, and would stay so if the
 * current leader could not be heard.
 */
export type MayHaveJoined = (member: MemberId) => boolean;

/** Reports whether a member existed and was removed. Member numbers are never reused. */
export type WasRemoved = (member: MemberId) => boolean;

/** The current and former members according to this member's log. */
export class KnownMembers {
  readonly #mayHaveJoined: MayHaveJoined;
  readonly #wasRemoved: WasRemoved;
  #members = new Set<MemberId>();
  readonly #removed = new Set<MemberId>();

  /** @param wasRemoved reports removals from before this process started */
  constructor(mayHaveJoined: MayHaveJoined = () => false, wasRemoved: WasRemoved = () => false) {
    this.#mayHaveJoined = mayHaveJoined;
    this.#wasRemoved = wasRemoved;
  }

  /** Sets the members. @returns those that are no longer members */
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

  /** Returns the reason why a member's messages are refused, or undefined if they are accepted. */
  refusalOf(member: MemberId): "removed" | "unknown" | undefined {
    if (this.#removed.has(member)) return "removed";
    if (this.has(member) || this.#mayHaveJoined(member)) return undefined;
    return this.#wasRemoved(member) ? "removed" : "unknown";
  }
}
