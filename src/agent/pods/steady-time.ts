import type { Clock } from "../../process/clock.ts";

/**
 * Returns the time by the steady clock of a past moment that a runtime gives by the wall clock. A moment that seems to
 * lie ahead, because the system's time was set back since, counts as now.
 */
export function steadyTime(clock: Pick<Clock, "nowMs" | "steadyMs">, pastMs: number): number {
  return clock.steadyMs() - Math.max(0, clock.nowMs() - pastMs);
}
