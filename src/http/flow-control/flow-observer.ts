import type { Refusal } from "./fair-queues.ts";
import type { Flow } from "./flow.ts";
import type { PriorityLevel } from "./priority-level.ts";
import type { Seats } from "./seats.ts";

/** A request with its schema and the level of that schema. */
export interface LevelFlow extends Flow {
  readonly level: PriorityLevel;
}

/** Receives what happens to requests, for metrics. Times are in milliseconds. */
export interface FlowObserver {
  /** Reports a request's demand for seats. */
  arrived(flow: LevelFlow, seats: Seats): void;
  /** Reports that a request begins to wait. */
  queued(flow: LevelFlow, queueLength: number): void;
  /** @param waitedMs undefined for a request that did not wait */
  started(flow: LevelFlow, waitedMs: number | undefined): void;
  /** @param waitedMs undefined for a request that did not wait */
  refused(flow: LevelFlow, reason: Refusal, waitedMs: number | undefined): void;
  ended(flow: LevelFlow, ranMs: number): void;
  /** Reports that the requests of a level have changed. */
  changed(level: PriorityLevel): void;
}
