import type { FlowSchema, PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import { flowSchemas, priorityLevels } from "../../kinds/flowcontrol/flow-control-objects.ts";
import type { Clock } from "../../process/clock.ts";
import type { RequestInfo } from "../../request/request-info.ts";
import type { UserInfo } from "../../request/user-info.ts";
import { allocateSeats, seatBounds } from "./concurrency-limits.ts";
import type { Refusal, Ticket } from "./fair-queues.ts";
import { distinguisherOf, FlowClassifier } from "./flow-classifier.ts";
import type { FlowObserver, LevelFlow } from "./flow-observer.ts";
import { PriorityLevel, shareOf } from "./priority-level.ts";
import { type EventLoop, systemLoop, TurnBudget } from "./turn-budget.ts";
import { estimateSeats, type WorkFacts } from "./work-estimate.ts";

/** The stored levels and schemas. */
export interface FlowConfiguration {
  /** A number that grows with every change of a level or schema. */
  version(): number;
  levels(): readonly PriorityLevelConfiguration[];
  schemas(): readonly FlowSchema[];
}

export interface FlowControlOptions {
  readonly clock: Clock;
  /** The seats of the whole server. */
  readonly seats: number;
  readonly configuration: FlowConfiguration;
  readonly facts: WorkFacts;
  readonly observer?: FlowObserver | undefined;
  /** The system's by default. */
  readonly loop?: EventLoop | undefined;
}

/** A request that has been admitted, and its seats. */
export interface Passage {
  readonly flow: LevelFlow;
  readonly ticket: Ticket;
}

export type Admission =
  | { readonly kind: "started" | "waiting"; readonly passage: Passage }
  | { readonly kind: "refused"; readonly retryAfterSeconds: number };

/** Interval at which the seats are divided among the levels again. */
const adjustmentMs = 10_000;
/** Time that requests run in one turn of the event loop before the others wait for the next turn. */
const turnBudgetMs = 1;
const catchAll = "catch-all";

/**
 * Priority and fairness: finds the level of each request, gives it seats, and makes it wait if there are none or if the
 * event loop is behind. Follows the stored configuration, starting with the write that changed it.
 */
export class FlowControl {
  readonly #options: FlowControlOptions;
  readonly #loop: EventLoop;
  readonly #budget: TurnBudget;
  readonly #levels = new Map<string, PriorityLevel>();
  readonly #onStart = new Map<Ticket, () => void>();
  #classifier = new FlowClassifier([]);
  #schemas: readonly FlowSchema[] = [];
  #catchAll: FlowSchema = mandatory<FlowSchema>(flowSchemas, catchAll);
  #version: number | undefined;
  #fairFraction = 0;
  #isPumping = false;

  constructor(options: FlowControlOptions) {
    this.#options = options;
    this.#loop = options.loop ?? systemLoop;
    this.#budget = new TurnBudget(turnBudgetMs, this.#loop, () => this.#pump());
  }

  /** Starts to divide the seats at intervals. */
  start(): Disposable {
    return this.#options.clock.every(adjustmentMs, () => this.adjust());
  }

  /** The levels in use. */
  get levels(): readonly PriorityLevel[] {
    this.#follow();
    return [...this.#levels.values()];
  }

  /** The schemas in use: those whose level exists. */
  get schemas(): readonly FlowSchema[] {
    this.#follow();
    return this.#schemas;
  }

  /** The fraction of its demand that each level received when the seats were last divided. */
  get fairFraction(): number {
    return this.#fairFraction;
  }

  /** Finds the schema and level of a request. */
  classify(user: UserInfo, info: RequestInfo): LevelFlow {
    this.#follow();
    const schema = this.#classifier.classify(user, info) ?? this.#catchAll;
    const level = this.#levels.get(levelNameOf(schema)) as PriorityLevel;
    return { user, info, schema, level, distinguisher: distinguisherOf(schema, user, info) };
  }

  /**
   * Admits a request, which starts now, waits or is refused. If it waits, call `whenStarted` next. End every request with
   * `giveUp` or `finish`.
   */
  admit(flow: LevelFlow): Admission {
    const { level } = flow;
    const { clock, facts, observer } = this.#options;
    const nowMs = clock.steadyMs();
    const seats = estimateSeats(flow.info, facts, level.widestSeats);
    const mayStart = level.isExempt || this.#budget.hasTime(nowMs);
    const wasIdle = level.queues.waiting === 0;
    const outcome = level.admit(flow, seats, nowMs, mayStart);
    observer?.arrived(flow, seats);
    if (typeof outcome === "string") {
      observer?.refused(flow, outcome, undefined, nowMs);
      return { kind: "refused", retryAfterSeconds: level.refused(outcome, nowMs) };
    }
    observer?.changed(level, nowMs);
    const passage: Passage = { flow, ticket: outcome };
    if (outcome.state === "running") {
      level.counts.dispatched++;
      observer?.started(flow, undefined, nowMs);
      return { kind: "started", passage };
    }
    if (wasIdle) level.servedMs = Math.max(level.servedMs, this.#leastServedMs());
    observer?.queued(flow, outcome.queue.waiting.size, nowMs);
    return { kind: "waiting", passage };
  }

  /** Calls `run` in the turn in which a waiting request gets its seats. */
  whenStarted({ flow, ticket }: Passage, run: () => void): void {
    this.#onStart.set(ticket, () => {
      flow.level.counts.dispatched++;
      this.#options.observer?.started(flow, ticket.startedMs - ticket.arrivedMs, ticket.startedMs);
      run();
    });
  }

  /** Runs the synchronous part of a request that has just started, and charges its time to the level. */
  run<Argument, Result>(
    { flow: { level }, ticket }: Passage,
    work: (argument: Argument) => Result,
    argument: Argument,
  ): Result {
    try {
      return work(argument);
    } finally {
      level.charge(this.#nowMs() - ticket.startedMs);
    }
  }

  /** Ends the wait of a request. Returns the number of seconds after which its client should retry. */
  giveUp({ flow, ticket }: Passage, reason: Refusal): number {
    const { level } = flow;
    const nowMs = this.#nowMs();
    this.#onStart.delete(ticket);
    level.leave(ticket, nowMs);
    this.#options.observer?.refused(flow, reason, nowMs - ticket.arrivedMs, nowMs);
    const seconds = level.refused(reason, nowMs);
    this.#changed(level, nowMs);
    return seconds;
  }

  /** Releases the seats of a request, at once or when its event has reached the watchers. */
  finish({ flow, ticket }: Passage): void {
    const { level } = flow;
    if (ticket.state !== "running") return;
    const nowMs = this.#nowMs();
    const lingerMs = level.finish(ticket, nowMs);
    this.#options.observer?.ended(flow, nowMs - ticket.startedMs, nowMs);
    if (lingerMs > 0) {
      this.#options.clock.after(lingerMs, () => {
        const releasedMs = this.#nowMs();
        level.release(ticket, releasedMs);
        this.#changed(level, releasedMs);
      });
    }
    this.#changed(level, nowMs);
  }

  /** Divides the seats by the demand of the last period. */
  adjust(): void {
    this.#follow();
    const nowMs = this.#nowMs();
    const levels = [...this.#levels.values()];
    const { allocations, fairFraction } = allocateSeats(levels.map((level) => level.endPeriod(nowMs)));
    this.#fairFraction = fairFraction;
    for (const [at, level] of levels.entries()) level.allocate(allocations[at] as (typeof allocations)[number], nowMs);
    this.#pump();
  }

  #nowMs(): number {
    return this.#options.clock.steadyMs();
  }

  /** Continues after a request has left its queue or released seats. */
  #changed(level: PriorityLevel, nowMs: number): void {
    this.#options.observer?.changed(level, nowMs);
    if (level.isQuiescing && level.queues.isIdle) this.#levels.delete(level.name);
    if (this.#onStart.size > 0) this.#pump();
  }

  /**
   * Starts waiting requests of all levels, as long as there are seats and time. After a request that has not ended at
   * once, the next one starts when it has run as far as it can, so that all its work in this turn counts.
   */
  #pump(): void {
    if (this.#isPumping) return;
    // A request that ends at once must not start the next one from within.
    this.#isPumping = true;
    for (let next = this.#startNext(); next !== undefined; next = this.#startNext()) {
      const { level, ticket } = next;
      if (ticket.state !== "running") continue;
      const startedMs = this.#nowMs();
      this.#loop.whenIdle(() => {
        this.#isPumping = false;
        level.charge(this.#nowMs() - startedMs);
        this.#pump();
      });
      return;
    }
    this.#isPumping = false;
  }

  /** Starts the request that is next. Returns undefined if there is no request, no seat or no time. */
  #startNext(): { readonly level: PriorityLevel; readonly ticket: Ticket } | undefined {
    if (this.#onStart.size === 0) return undefined;
    const blocked = new Set<PriorityLevel>();
    for (;;) {
      const level = this.#nextLevel(blocked);
      if (level === undefined) return undefined;
      const nowMs = this.#nowMs();
      if (!level.isExempt && !this.#budget.hasTime(nowMs)) return undefined;
      const ticket = level.startNext(nowMs);
      if (ticket === undefined) {
        blocked.add(level);
        continue;
      }
      this.#options.observer?.changed(level, nowMs);
      const onStart = this.#onStart.get(ticket);
      this.#onStart.delete(ticket);
      onStart?.();
      return { level, ticket };
    }
  }

  /** Returns the waiting level that has used the least time of the event loop relative to its share. */
  #nextLevel(blocked: ReadonlySet<PriorityLevel>): PriorityLevel | undefined {
    let next: PriorityLevel | undefined;
    for (const level of this.#levels.values()) {
      if (level.queues.waiting === 0 || blocked.has(level)) continue;
      if (next === undefined || level.servedMs < next.servedMs) next = level;
    }
    return next;
  }

  #leastServedMs(): number {
    return this.#nextLevel(new Set())?.servedMs ?? 0;
  }

  /** Applies the configuration if it has changed. */
  #follow(): void {
    const { configuration, seats } = this.#options;
    const version = configuration.version();
    if (version === this.#version) return;
    this.#version = version;
    const nowMs = this.#nowMs();
    const levels = withMandatory(configuration.levels(), priorityLevels);
    this.#configureLevels(levels, seats, nowMs);
    const schemas = withMandatory(configuration.schemas(), flowSchemas);
    this.#catchAll = schemas.get(catchAll) as FlowSchema;
    this.#schemas = [...schemas.values()].filter((schema) => levels.has(levelNameOf(schema)));
    this.#classifier = new FlowClassifier(this.#schemas);
  }

  /** Levels that are no longer configured keep their shares until their last request has ended. */
  #configureLevels(wanted: ReadonlyMap<string, PriorityLevelConfiguration>, seats: number, nowMs: number): void {
    const quiescing = [...this.#levels.values()].filter((level) => !wanted.has(level.name));
    for (const level of quiescing) {
      level.isQuiescing = true;
      if (level.queues.isIdle) this.#levels.delete(level.name);
    }
    const configurations = [...wanted.values(), ...quiescing.map(({ configuration }) => configuration)];
    const bounds = seatBounds(configurations.map(shareOf), seats);
    for (const [at, configuration] of configurations.entries()) {
      const name = configuration.metadata.name ?? "";
      const level = this.#levels.get(name);
      const own = bounds[at] as (typeof bounds)[number];
      if (level !== undefined) {
        level.isQuiescing = !wanted.has(name);
        level.configure(configuration, own, nowMs);
      } else if (wanted.has(name)) {
        this.#levels.set(name, new PriorityLevel(configuration, own, nowMs));
      }
    }
  }
}

function levelNameOf({ spec }: FlowSchema): string {
  return spec?.priorityLevelConfiguration.name ?? "";
}

interface Named {
  readonly metadata: { readonly name?: string };
}

/** Returns the objects by name. The mandatory ones are in force even if they are not stored. */
function withMandatory<T extends Named>(stored: readonly T[], defaults: typeof flowSchemas): Map<string, T> {
  const imagined = defaults.filter((each) => each.mandatory).map(({ object }) => object as unknown as T);
  return new Map([...imagined, ...stored].map((object) => [object.metadata.name ?? "", object]));
}

function mandatory<T>(objects: typeof flowSchemas, name: string): T {
  return objects.find(({ object }) => object.metadata.name === name)?.object as unknown as T;
}
