/** The room that a request takes in its priority level. */
export interface Seats {
  /** Seats occupied while the request runs. */
  readonly initial: number;
  /** Seats kept for `lingerMs` after the response, because a write still causes work in its watchers. */
  readonly final: number;
  readonly lingerMs: number;
}

export const oneSeat: Seats = { initial: 1, final: 0, lingerMs: 0 };

/** Returns the number of seats that must be free for the request to start. */
export function widestOf({ initial, final }: Seats): number {
  return Math.max(initial, final);
}

/** Assumed duration of a request before it has run. */
const expectedServiceMs = 3;

/** Returns the seat-milliseconds that the request is expected to use, or has used if its duration is known. */
export function workOf({ initial, final, lingerMs }: Seats, serviceMs = expectedServiceMs): number {
  return initial * serviceMs + final * lingerMs;
}
