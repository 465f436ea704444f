import type { PriorityLevelConfiguration } from "../../api/types/flowcontrol-v1.ts";
import { RecentMap } from "../../process/recent-map.ts";
import {
  type Allocation,
  type Demand,
  initialSeats,
  type SeatBounds,
  type Share,
  smoothedDemand,
} from "./concurrency-limits.ts";
import { FairQueues, noQueues, type QueueShape, type Refusal, type Ticket } from "./fair-queues.ts";
import type { Flow } from "./flow.ts";
import { RetryAfter } from "./retry-after.ts";
import { SeatDemand } from "./seat-demand.ts";
import type { Seats } from "./seats.ts";
import { dealHand, flowHash } from "./shuffle-shard.ts";

/** Maximum number of cached hands. The oldest is dropped, and dealt again on demand. */
const handsMax = 4_096;
/** The largest part of a level's seats that one request may take. */
const widestShare = 0.15;

/** A request in a level. */
export interface InnerRequest {
  readonly flow: Flow;
  readonly ticket: Ticket;
}

/** A priority level in use: its seats, its queues and their history. */
export class PriorityLevel {
  readonly name: string;
  readonly #queues: FairQueues;
  readonly #demand: SeatDemand;
  readonly #retryAfter = new RetryAfter();
  #hands = new RecentMap<string, readonly number[]>(handsMax);
  /** The requests that wait, run or keep their final seats, in order of arrival. */
  readonly #requests = new Map<Ticket, Flow>();
  #configuration: PriorityLevelConfiguration;
  #bounds: SeatBounds;
  #lastDemand: Demand = { average: 0, deviation: 0, highWatermark: 0, smoothed: 0 };
  #allocation: Allocation;
  /** Whether the level is no longer configured. It stays until its last request has ended. */
  isQuiescing = false;
  /** Event loop time that the level has used, divided by its shares, in milliseconds. */
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

  /** The requests that wait, run or keep their final seats, in order of arrival. */
  requests(): InnerRequest[] {
    return [...this.#requests].map(([ticket, flow]) => ({ ticket, flow }));
  }

  /** The largest number of seats that one request may take. */
  get widestSeats(): number {
    const { nominal } = this.#bounds;
    const { handSize } = this.#queues.shape;
    const share = Math.ceil(widestShare * nominal);
    return Math.max(1, handSize > 0 ? Math.min(share, Math.floor(nominal / handSize)) : share);
  }

  /** Applies a changed configuration, or new bounds after the shares of other levels changed. */
  configure(configuration: PriorityLevelConfiguration, bounds: SeatBounds, nowMs: number): void {
    const shape = shapeOf(configuration);
    const former = this.#queues.shape;
    if (shape.queues !== former.queues || shape.handSize !== former.handSize) this.#hands = new RecentMap(handsMax);
    this.#queues.reshape(shape);
    const isChanged = bounds.nominal !== this.#bounds.nominal || bounds.min !== this.#bounds.min;
    this.#configuration = configuration;
    this.#bounds = bounds;
    if (isChanged) this.allocate({ ...this.#allocation, current: initialSeats(bounds) }, nowMs);
  }

  /** Starts a request, lets it wait, or refuses it. */
  admit(flow: Flow, seats: Seats, nowMs: number, mayStart: boolean): Ticket | Refusal {
    const outcome = this.#queues.admit(seats, this.#handOf(flow), nowMs, mayStart);
    if (typeof outcome !== "string") this.#requests.set(outcome, flow);
    this.#noteDemand(nowMs);
    return outcome;
  }

  startNext(nowMs: number): Ticket | undefined {
    return this.#queues.startNext(nowMs);
  }

  leave(ticket: Ticket, nowMs: number): void {
    this.#queues.leave(ticket, nowMs);
    this.#requests.delete(ticket);
    this.#noteDemand(nowMs);
  }

  /** Returns the milliseconds after which `release` must be called, or 0 if it need not be called. */
  finish(ticket: Ticket, nowMs: number): number {
    const lingerMs = this.#queues.finish(ticket, nowMs);
    if (lingerMs === 0) this.#requests.delete(ticket);
    this.#noteDemand(nowMs);
    return lingerMs;
  }

  release(ticket: Ticket, nowMs: number): void {
    this.#queues.release(ticket, nowMs);
    this.#requests.delete(ticket);
    this.#noteDemand(nowMs);
  }

  /** Counts a refusal. Returns the number of seconds after which the client should retry. */
  refused(reason: Refusal, nowMs: number): number {
    if (reason === "time-out") this.counts.timedOut++;
    else if (reason === "cancelled") this.counts.cancelled++;
    else this.counts.rejected++;
    return this.#retryAfter.refused(nowMs);
  }

  /** Ends a period of demand. Returns the bounds and the demand for the next allocation. */
  endPeriod(nowMs: number): SeatBounds & { readonly demand: Demand } {
    const summary = this.#demand.endPeriod(nowMs);
    this.#lastDemand = { ...summary, smoothed: smoothedDemand(this.#lastDemand.smoothed, summary) };
    return { ...this.#bounds, demand: this.#lastDemand };
  }

  allocate(allocation: Allocation, nowMs: number): void {
    this.#allocation = allocation;
    this.#queues.resize(seatsMaxOf(this.#bounds, allocation.current), nowMs);
  }

  /** Adds time of the event loop that a request of this level has used. */
  charge(ms: number): void {
    this.servedMs += ms / Math.max(1, this.#bounds.nominal);
  }

  #noteDemand(nowMs: number): void {
    this.#demand.set(this.#queues.seatsWanted, nowMs);
  }

  #handOf({ schema, distinguisher }: Flow): readonly number[] {
    const { queues, handSize } = this.#queues.shape;
    if (queues === 0) return [];
    const { name = "" } = schema.metadata;
    const key = `${name}\0${distinguisher}`;
    let hand = this.#hands.get(key);
    if (hand === undefined) {
      hand = dealHand(flowHash(name, distinguisher), queues, handSize);
      this.#hands.set(key, hand);
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
