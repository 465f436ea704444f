import type { MemberId } from "./core/ids.ts";
import type { Append, Message } from "./core/message.ts";

/**
 * Delays appends without entries, which only report the leader's commit index. Each waits for one turn of the event loop:
 * callers whose entries were committed are about to be answered and to propose again, and the next append with entries
 * carries the commit index too.
 */
export class CommitNotices {
  #waiting = new Map<MemberId, Append>();
  #early = new Map<MemberId, Append>();

  /** Begins another turn. Appends from earlier turns are due at its end. */
  beginTurn(): void {
    this.#early = this.#waiting;
    this.#waiting = new Map();
  }

  /** Returns the messages that may be sent now. */
  sift(messages: readonly Message[]): readonly Message[] {
    return messages.filter((message) => message.type !== "append" || this.#maySend(message));
  }

  /** Takes the appends that no later append has replaced. */
  takeDue(): readonly Append[] {
    const due = [...this.#early.values()];
    this.#early.clear();
    return due;
  }

  /** Keeps the appends for another turn, because entries will be sent soon. */
  wait(): void {
    for (const [member, append] of this.#early) if (!this.#waiting.has(member)) this.#waiting.set(member, append);
    this.#early.clear();
  }

  get areWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  #maySend(append: Append): boolean {
    this.#early.delete(append.to);
    this.#waiting.delete(append.to);
    if (append.entries.length > 0) return true;
    this.#waiting.set(append.to, append);
    return false;
  }
}
