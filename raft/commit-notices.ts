import type { MemberId } from "./core/ids.ts";
import type { Append, Message } from "./core/message.ts";

/**
 * An append without entries tells little more than how far the leader has committed. It waits for one turn of the event
 * loop, because those whose proposals that was are about to be answered and to propose again, and then the next append
 * with entries tells it as well.
 */
export class CommitNotices {
  #waiting = new Map<MemberId, Append>();
  #early = new Map<MemberId, Append>();

  /** Another turn begins: what waited since the last one is due at its end. */
  beginTurn(): void {
    this.#early = this.#waiting;
    this.#waiting = new Map();
  }

  /** The messages that may go now. */
  sift(messages: readonly Message[]): readonly Message[] {
    return messages.filter((message) => message.type !== "append" || this.#maySend(message));
  }

  /** What no later append has made needless. */
  takeDue(): readonly Append[] {
    const due = [...this.#early.values()];
    this.#early.clear();
    return due;
  }

  /** For another turn: entries are about to go. */
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
