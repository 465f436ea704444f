import type { SignalSource } from "../api/joint-call.ts";
import { type StatusError, status } from "../api/status.ts";
import type { Clock } from "../process/clock.ts";

/** The time that a request has, and whether its client still waits. */
export interface RequestLifetime {
  /** On the steady clock; undefined for a request without a deadline. */
  readonly deadlineMs?: number | undefined;
  /** Returns a signal that aborts when no caller waits for the outcome. */
  readonly signal?: SignalSource | undefined;
  /** Reports whether that signal has aborted, without making one. */
  readonly isAbandoned?: (() => boolean) | undefined;
}

/** Rejects a request whose time is over or whose client has gone, as upstream does. @throws StatusError 504 */
export function refuseAbandoned(request: RequestLifetime, clock: Clock): void {
  const { deadlineMs } = request;
  const isLate = deadlineMs !== undefined && clock.steadyMs() >= deadlineMs;
  if (isLate || request.isAbandoned?.() === true) {
    throw outOfTime();
  }
}

/** The answer to a request whose time is over. */
export function outOfTime(): StatusError {
  return status.timeout("request did not complete within requested timeout");
}
