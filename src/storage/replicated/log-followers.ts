import type { Entry as LogRecord } from "../../../raft/index.ts";

/** Hears of everything that changes the state of a replica, in order and in the turn of the change. */
export interface LogFollower {
  /** Entries were applied. */
  applied(entries: readonly LogRecord[]): void;
  /** Another state replaced this one as a whole. */
  replaced(): void;
  /** Another member leads. */
  leaderChanged(): void;
  /** The store takes no more writes. */
  failed(reason: string): void;
}

/** The followers of one log. */
export class LogFollowers {
  readonly #followers = new Set<LogFollower>();

  add(follower: LogFollower): Disposable {
    this.#followers.add(follower);
    return { [Symbol.dispose]: () => void this.#followers.delete(follower) };
  }

  applied(entries: readonly LogRecord[]): void {
    for (const follower of this.#followers) follower.applied(entries);
  }

  replaced(): void {
    for (const follower of this.#followers) follower.replaced();
  }

  leaderChanged(): void {
    for (const follower of this.#followers) follower.leaderChanged();
  }

  failed(reason: string): void {
    for (const follower of this.#followers) follower.failed(reason);
  }
}
