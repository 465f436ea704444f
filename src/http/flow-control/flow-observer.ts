import type { Refusal } from "./fair-queues.ts";
import type { Flow } from "./flow.ts";
import type { PriorityLevel } from "./priority-level.ts";
import type { Seats } from "./seats.ts";

/** A request with its schema and the level of that schema. */
export interface LevelFlow extends Flow {
  readonly level: PriorityLevel;
}

/** Receives what happens to requests, for metrics. Times are in milliseconds, `nowMs` on the steady clock. */
export interface FlowObserver {
  /** Reports a request's demand for seats. */
  arrived(flow: LevelFlow, seats: Seats): void;
  /** Reports that a request begins to wait. */
  queued(flow: LevelFlow, queueLength: number, nowMs: number): void;
  /** @param waitedMs undefined for a request that did not wait */
  started(flow: LevelFlow, waitedMs: number | undefined, nowMs: number): void;
  /** @param waitedMs undefined for a request that did not wait */
  refused(flow: LevelFlow, reason: Refusal, waitedMs: number | undefined, nowMs: number): void;
  ended(flow: LevelFlow, ranMs: number, nowMs: number): void;
  /** Reports that the requests of a level have changed. */
  changed(level: PriorityLevel, nowMs: number): void;
}
