import type { Stall } from "./node-options.ts";
import { UnderWay } from "./under-way.ts";

/** Notices what stands still for an election timeout: then somebody else leads better. */
export class StallWatch {
  /** To the log. */
  readonly writes = new UnderWay();
  /** Of entries, to the state machine. */
  readonly batches = new UnderWay();
  readonly #limitMs: number;
  #tickedAtMs: number;

  constructor(limitMs: number, nowMs: number) {
    this.#limitMs = limitMs;
    this.#tickedAtMs = nowMs;
  }

  /**
   * The process runs. A busy one hears its timer late, and once for all the times that it missed: those of a heartbeat are made
   * up for, and no more, so that what came in meanwhile is heard before anybody is given up.
   * @returns how many ticks have passed
   */
  ticked(nowMs: number, heartbeatMs: number, ticksPerHeartbeat: number): number {
    const passed = Math.round(((nowMs - this.#tickedAtMs) * ticksPerHeartbeat) / heartbeatMs);
    this.#tickedAtMs = nowMs;
    return Math.min(ticksPerHeartbeat, Math.max(1, passed));
  }

  /** Whether a member that stood for election now could lead. */
  isFit(nowMs: number): boolean {
    return this.writes.stalledMs(nowMs) < this.#limitMs && this.batches.stalledMs(nowMs) < this.#limitMs;
  }

  /** For how long each of those that stand still has done so. A process that did goes on from now. */
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
