import type { Stall } from "./node-options.ts";
import { UnderWay } from "./under-way.ts";

/** Detects work that stands still for an election timeout, in which case another leader is better. */
export class StallWatch {
  /** Writes to the log. */
  readonly writes = new UnderWay();
  /** Batches of entries at the state machine. */
  readonly batches = new UnderWay();
  readonly #limitMs: number;
  #tickedAtMs: number;

  constructor(limitMs: number, nowMs: number) {
    this.#limitMs = limitMs;
    this.#tickedAtMs = nowMs;
  }

  /**
   * Records that the process runs. The timer of a busy process fires late, once for all missed ticks. At most one
   * heartbeat's worth of ticks is made up, so that messages received meanwhile are handled before another member counts
   * as lost.
   * @returns the number of ticks that have passed
   */
  ticked(nowMs: number, heartbeatMs: number, ticksPerHeartbeat: number): number {
    const passed = Math.round(((nowMs - this.#tickedAtMs) * ticksPerHeartbeat) / heartbeatMs);
    this.#tickedAtMs = nowMs;
    return Math.min(ticksPerHeartbeat, Math.max(1, passed));
  }

  /** Reports whether this member, if elected now, could lead. */
  isFit(nowMs: number): boolean {
    return this.writes.stalledMs(nowMs) < this.#limitMs && this.batches.stalledMs(nowMs) < this.#limitMs;
  }

  /** Returns the current stalls with their durations. Restarts the measurement of a stall of the process itself. */
  stalls(nowMs: number): readonly { readonly what: Stall; readonly ms: number }[] {
    const processMs = nowMs - this.#tickedAtMs;
    if (processMs < this.#limitMs && this.isFit(nowMs)) return none;
    if (processMs >= this.#limitMs) this.#tickedAtMs = nowMs;
    const all = [
      { what: "process", ms: processMs },
      { what: "disk", ms: this.writes.stalledMs(nowMs) },
      { what: "stateMachine", ms: this.batches.stalledMs(nowMs) },
    ] as const;
    return all.filter(({ ms }) => ms >= this.#limitMs);
  }
}

const none = [] as const;
