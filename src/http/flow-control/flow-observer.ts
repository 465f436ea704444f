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
  /** A request asks for its seats. */
  arrived(flow: LevelFlow, seats: Seats): void;
  /** A request begins to wait. */
  queued(flow: LevelFlow, queueLength: number, nowMs: number): void;
  /** @param waitedMs undefined for a request that did not wait */
  started(flow: LevelFlow, waitedMs: number | undefined, nowMs: number): void;
  /** @param waitedMs undefined for a request that did not wait */
  refused(flow: LevelFlow, reason: Refusal, waitedMs: number | undefined, nowMs: number): void;
  ended(flow: LevelFlow, ranMs: number, nowMs: number): void;
  /** The requests in a level are others than before. */
  changed(level: PriorityLevel, nowMs: number): void;
}
