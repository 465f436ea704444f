import type { PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import {
  type Allocation,
  type Demand,
  initialSeats,
  type SeatBounds,
  type Share,
  smoothedDemand,
} from "./concurrency-limits.ts";
import { FairQueues, noQueues, type QueueShape, type Refusal, type Ticket } from "./fair-queues.ts";
import { RetryAfter } from "./retry-after.ts";
import { SeatDemand } from "./seat-demand.ts";
import type { Seats } from "./seats.ts";
import { dealHand, flowHash } from "./shuffle-shard.ts";

/** Hands that are kept; the oldest goes first, and is dealt again when it is needed. */
const handsMax = 4_096;
/** Part of a level's seats that one request may take at most. */
const widestShare = 0.15;

/** A priority level at work: its seats, its queues and what happened in them. */
export class PriorityLevel {
  readonly name: string;
  readonly #queues: FairQueues;
  readonly #demand: SeatDemand;
  readonly #retryAfter = new RetryAfter();
  readonly #hands = new Map<string, readonly number[]>();
  #configuration: PriorityLevelConfiguration;
  #bounds: SeatBounds;
  #lastDemand: Demand = { average: 0, deviation: 0, highWatermark: 0, smoothed: 0 };
  #allocation: Allocation;
  /** The level is no longer configured; it stays until its last request has ended. */
  isQuiescing = false;
  /** Time of the event loop that the level has had, divided by its shares, in milliseconds. */
  servedMs = 0;
  readonly counts = { dispatched: 0, rejected: 0, timedOut: 0, cancelled: 0 };

  constructor(configuration: PriorityLevelConfiguration, bounds: SeatBounds, nowMs: number) {
    const seats = initialSeats(bounds);
    this.name = configuration.metadata.name ?? "";
    this.#configuration = configuration;
    this.#bounds = bounds;
    this.#allocation = { current: seats, lower: bounds.min, target: 0 };
    this.#queues = new FairQueues(shapeOf(configuration), seatsMaxOf(bounds, seats), nowMs);
    this.#demand = new SeatDemand(nowMs);
  }

  get configuration(): PriorityLevelConfiguration {
    return this.#configuration;
  }

  get uid(): string {
    return this.#configuration.metadata.uid ?? "";
  }

  get isExempt(): boolean {
    return this.#bounds.exempt;
  }

  get bounds(): SeatBounds {
    return this.#bounds;
  }

  get demand(): Demand {
    return this.#lastDemand;
  }

  get allocation(): Allocation {
    return this.#allocation;
  }

  get queues(): FairQueues {
    return this.#queues;
  }

  /** The most seats that one request may take. */
  get widestSeats(): number {
    const { nominal } = this.#bounds;
    const { handSize } = this.#queues.shape;
    const share = Math.ceil(widestShare * nominal);
    return Math.max(1, handSize > 0 ? Math.min(share, Math.floor(nominal / handSize)) : share);
  }

  /** Takes over a changed configuration, or new bounds because the shares of other levels changed. */
  configure(configuration: PriorityLevelConfiguration, bounds: SeatBounds, nowMs: number): void {
    const shape = shapeOf(configuration);
    const former = this.#queues.shape;
    if (shape.queues !== former.queues || shape.handSize !== former.handSize) this.#hands.clear();
    this.#queues.reshape(shape);
    const isChanged = bounds.nominal !== this.#bounds.nominal || bounds.min !== this.#bounds.min;
    this.#configuration = configuration;
    this.#bounds = bounds;
    if (isChanged) this.allocate({ ...this.#allocation, current: initialSeats(bounds) }, nowMs);
  }

  /** Starts the request of a flow, lets it wait, or refuses it. */
  admit(seats: Seats, schema: string, distinguisher: string, nowMs: number, mayStart: boolean): Ticket | Refusal {
    const outcome = this.#queues.admit(seats, this.#handOf(schema, distinguisher), nowMs, mayStart);
    this.#noteDemand(nowMs);
    return outcome;
  }

  startNext(nowMs: number): Ticket | undefined {
    return this.#queues.startNext(nowMs);
  }

  leave(ticket: Ticket, nowMs: number): void {
    this.#queues.leave(ticket, nowMs);
    this.#noteDemand(nowMs);
  }

  /** Returns the milliseconds after which `release` must be called; 0 if it need not be. */
  finish(ticket: Ticket, nowMs: number): number {
    const lingerMs = this.#queues.finish(ticket, nowMs);
    this.#noteDemand(nowMs);
    return lingerMs;
  }

  release(ticket: Ticket, nowMs: number): void {
    this.#queues.release(ticket, nowMs);
    this.#noteDemand(nowMs);
  }

  /** Counts a refusal. Returns the seconds after which the client should try again. */
  refused(reason: Refusal, nowMs: number): number {
    if (reason === "time-out") this.counts.timedOut++;
    else if (reason === "cancelled") this.counts.cancelled++;
    else this.counts.rejected++;
    return this.#retryAfter.refused(nowMs);
  }

  /** Ends a period of demand. Returns the bounds and the demand, from which the next allocation follows. */
  endPeriod(nowMs: number): SeatBounds & { readonly demand: Demand } {
    const summary = this.#demand.endPeriod(nowMs);
    this.#lastDemand = { ...summary, smoothed: smoothedDemand(this.#lastDemand.smoothed, summary) };
    return { ...this.#bounds, demand: this.#lastDemand };
  }

  allocate(allocation: Allocation, nowMs: number): void {
    this.#allocation = allocation;
    this.#queues.resize(seatsMaxOf(this.#bounds, allocation.current), nowMs);
  }

  #noteDemand(nowMs: number): void {
    this.#demand.set(this.#queues.seatsWanted, nowMs);
  }

  #handOf(schema: string, distinguisher: string): readonly number[] {
    const { queues, handSize } = this.#queues.shape;
    if (queues === 0) return [];
    const flow = `${schema}\0${distinguisher}`;
    let hand = this.#hands.get(flow);
    if (hand === undefined) {
      hand = dealHand(flowHash(schema, distinguisher), queues, handSize);
      if (this.#hands.size >= handsMax) this.#hands.delete(this.#hands.keys().next().value as string);
      this.#hands.set(flow, hand);
    }
    return hand;
  }
}

export function shareOf({ spec }: PriorityLevelConfiguration): Share {
  const exempt = spec?.type === "Exempt";
  const { nominalConcurrencyShares, lendablePercent } = (exempt ? spec.exempt : spec?.limited) ?? {};
  return {
    exempt,
    shares: nominalConcurrencyShares ?? (exempt ? 0 : 30),
    lendablePercent: lendablePercent ?? 0,
    borrowingLimitPercent: exempt ? undefined : spec?.limited?.borrowingLimitPercent,
  };
}

function shapeOf({ spec }: PriorityLevelConfiguration): QueueShape {
  const response = spec?.type === "Limited" ? spec.limited?.limitResponse : undefined;
  if (response?.type !== "Queue" || response.queuing === undefined) return noQueues;
  const { queues, handSize, queueLengthLimit } = response.queuing;
  return { queues, handSize, lengthMax: queueLengthLimit };
}

function seatsMaxOf({ exempt }: SeatBounds, seats: number): number {
  return exempt ? Number.POSITIVE_INFINITY : seats;
}
