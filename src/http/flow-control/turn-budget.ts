/** Access to the event loop, so that tests can simulate it. */
export interface EventLoop {
  /** Calls `run` in the next turn, after input was read. */
  nextTurn(run: () => void): void;
  /** Calls `run` in this turn, when everything that can continue without waiting has continued. */
  whenIdle(run: () => void): void;
}

export const systemLoop: EventLoop = {
  nextTurn: (run) => void setImmediate(run),
  whenIdle: (run) => queueMicrotask(() => process.nextTick(run)),
};

/**
 * The time that requests may take in one turn of the event loop. Every request runs on this loop, so a turn that takes
 * too long delays all others, whatever their priority level. Requests that come later in the turn wait in their queues,
 * and fairness decides their order.
 */
export class TurnBudget {
  readonly #budgetMs: number;
  readonly #loop: EventLoop;
  readonly #onTurn: () => void;
  /** Undefined between turns with requests. */
  #startedMs: number | undefined;

  /** @param onTurn is called in each turn after one that has run requests */
  constructor(budgetMs: number, loop: EventLoop, onTurn: () => void) {
    this.#budgetMs = budgetMs;
    this.#loop = loop;
    this.#onTurn = onTurn;
  }

  /** Reports whether another request may run in this turn. */
  hasTime(nowMs: number): boolean {
    if (this.#startedMs === undefined) {
      this.#startedMs = nowMs;
      this.#loop.nextTurn(this.#endTurn);
    }
    return nowMs - this.#startedMs < this.#budgetMs;
  }

  readonly #endTurn = () => {
    this.#startedMs = undefined;
    this.#onTurn();
  };
}
