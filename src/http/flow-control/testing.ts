import type { PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import { flowSchemas, priorityLevels } from "../../kinds/flowcontrol/flow-control-objects.ts";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { parseRequestInfo } from "../parse-request-info.ts";
import { FlowControl, type Passage } from "./flow-control.ts";
import type { EventLoop } from "./turn-budget.ts";

/** The CPU time that a request takes, in milliseconds. */
export interface Cost {
  /** Reading and parsing it, before the filters see it. */
  readonly inputMs: number;
  readonly startMs: number;
  /** Work after an `await` that did not have to wait. */
  readonly continuedMs: number;
  /** Work in slices, one per turn of the event loop, while the request keeps its seats. */
  readonly slices: number;
  readonly sliceMs: number;
}

export interface SimulatedRequest {
  readonly user: string;
  readonly path: string;
  readonly arrivesMs: number;
  readonly cost: Cost;
  /** Called when the answer is complete. Returns the next request of a client in a closed loop. */
  readonly done: (endMs: number) => SimulatedRequest | undefined;
}

/** Bytes of the objects of every collection. */
const collection = { objects: 10_000, averageBytes: 2_000 };

/** One thread that serves requests behind priority and fairness, with the default objects, in simulated time. */
export class SimulatedServer implements EventLoop {
  readonly #clock = new ManualClock();
  readonly #control: FlowControl;
  readonly #slices: (() => void)[] = [];
  /** In order of arrival. */
  readonly #arriving: SimulatedRequest[] = [];
  #immediates: (() => void)[] = [];
  #idle: (() => void)[] = [];
  #continued: (() => void)[] = [];
  longestTurnMs = 0;
  refused = 0;
  busyMs = 0;

  constructor(seats: number) {
    this.#control = new FlowControl({
      clock: this.#clock,
      seats,
      loop: this,
      configuration: {
        version: () => 1,
        levels: () => priorityLevels.map(({ object }) => object as unknown as PriorityLevelConfiguration),
        schemas: () => flowSchemas.map(({ object }) => object as never),
      },
      facts: { sizeOf: () => collection, watchersOf: () => 0 },
    });
    this.#control.start();
  }

  get nowMs(): number {
    return this.#clock.steadyMs();
  }

  nextTurn(run: () => void): void {
    this.#immediates.push(run);
  }

  whenIdle(run: () => void): void {
    this.#idle.push(run);
  }

  send(request: SimulatedRequest): void {
    const later = this.#arriving.findLastIndex(({ arrivesMs }) => arrivesMs <= request.arrivesMs);
    this.#arriving.splice(later + 1, 0, request);
  }

  /** Serves until then. */
  runUntil(endMs: number): void {
    while (this.nowMs < endMs) this.#turn(endMs);
  }

  #turn(endMs: number): void {
    const startMs = this.nowMs;
    const later = this.#arriving.findIndex(({ arrivesMs }) => arrivesMs > startMs);
    const input = this.#arriving.splice(0, later === -1 ? this.#arriving.length : later);
    for (const request of input) this.#receive(request);
    const immediates = this.#immediates;
    this.#immediates = [];
    for (const run of immediates) this.#callback(run);
    const slice = this.#slices.shift();
    if (slice !== undefined) this.#callback(slice);
    this.longestTurnMs = Math.max(this.longestTurnMs, this.nowMs - startMs);
    if (this.#slices.length > 0 || this.#immediates.length > 0 || this.nowMs > startMs) return;
    this.#clock.advance(Math.min(endMs, this.#arriving[0]?.arrivesMs ?? endMs) - startMs);
  }

  #work(ms: number): void {
    this.busyMs += ms;
    this.#clock.advance(ms);
  }

  /** Runs a callback, and then everything that continues without waiting. */
  #callback(run: () => void): void {
    run();
    for (;;) {
      const next = this.#continued.shift() ?? this.#idle.shift();
      if (next === undefined) return;
      next();
    }
  }

  #receive(request: SimulatedRequest): void {
    this.#work(request.cost.inputMs);
    const info = parseRequestInfo("GET", request.path);
    const user = { name: request.user, uid: "", groups: ["system:authenticated"], extra: new Map() };
    const admission = this.#control.admit(this.#control.classify(user, info));
    if (admission.kind === "refused") {
      this.refused++;
      this.#answered(request);
    } else if (admission.kind === "started") this.#callback(() => this.#serve(request, admission.passage));
    else this.#control.whenStarted(admission.passage, () => this.#serve(request, admission.passage));
  }

  #serve(request: SimulatedRequest, passage: Passage): void {
    const { startMs, continuedMs, slices, sliceMs } = request.cost;
    const finish = () => {
      this.#control.finish(passage);
      this.#answered(request);
    };
    const slice = (left: number) => {
      if (left === 0) return finish();
      this.#slices.push(() => {
        this.#work(sliceMs);
        slice(left - 1);
      });
    };
    this.#control.run(passage, (ms: number) => this.#work(ms), startMs);
    this.#continued.push(() => {
      this.#work(continuedMs);
      slice(slices);
    });
  }

  #answered(request: SimulatedRequest): void {
    const next = request.done(this.nowMs);
    if (next !== undefined) this.send(next);
  }
}
