import type { Index, MemberId } from "../../core/ids.ts";
import type { LogView } from "../../core/log.ts";
import type { Membership } from "../../core/membership.ts";
import { must } from "./violation.ts";

/** The committed memberships by index. Every member that has reached an index must have the same one. */
export class DecidedMemberships {
  readonly #decided: { readonly index: Index; readonly text: string }[] = [];

  /** Records the memberships that a leader committed after `before`. */
  decide(before: number, { memberships, commit }: LogView): void {
    for (const { index, membership } of memberships) {
      if (index > before && index <= commit) this.#decided.push({ index, text: textOf(membership) });
    }
  }

  check(member: MemberId, { memberships, commit }: LogView): void {
    const expected = this.#decided.findLast(({ index }) => index <= commit);
    if (expected === undefined) return;
    const held = memberships.findLast(({ index }) => index <= commit);
    const text = held === undefined ? "none" : textOf(held.membership);
    must(text === expected.text, () => `member ${member} believes in ${text} instead of ${expected.text}`);
  }
}

function textOf({ voters, outgoing, learners, learnersNext }: Membership): string {
  return [voters, outgoing, learners, learnersNext].map((members) => members.join(" ")).join("/");
}
