/** Answers this close together, in milliseconds, belong to requests that arrived together. */
const togetherMs = 0.1;

/**
 * The answers of one HTTP/2 connection. Several that are ready in the same turn of the event loop are sent in one go,
 * because the session flushes after each callback, and each flush costs a TLS record and a system call.
 */
export class AnswerGroup {
  readonly #steadyMs: () => number;
  /** Requests that have arrived and have no answer yet. */
  #unanswered = 0;
  #answeredMs = Number.NEGATIVE_INFINITY;
  /** Whether the last answers that waited were several, so that the next ones are likely to be, too. */
  #wereSeveral = false;
  #waiting: (() => void)[] = [];

  /** @param steadyMs the monotonic clock */
  constructor(steadyMs: () => number = () => performance.now()) {
    this.#steadyMs = steadyMs;
  }

  /** Counts a request. Each ends with one call of `send`. */
  begin(): void {
    this.#unanswered++;
  }

  /** Sends an answer: at the end of the turn if others are likely to join it, otherwise now. */
  send(write: () => void): void {
    this.#unanswered--;
    const nowMs = this.#steadyMs();
    const isAlone = this.#unanswered === 0 && nowMs - this.#answeredMs > togetherMs && !this.#wereSeveral;
    this.#answeredMs = nowMs;
    if (isAlone) write();
    else if (this.#waiting.push(write) === 1) setImmediate(this.#sendAll);
  }

  readonly #sendAll = () => {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#wereSeveral = waiting.length > 1;
    for (const write of waiting) write();
  };
}
