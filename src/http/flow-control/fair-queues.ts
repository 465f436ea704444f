import { type Seats, widestOf, workOf } from "./seats.ts";

/**
 * The part of the seats that wide requests, those with more than one seat, leave to narrow ones. A few long lists, which
 * keep their seats until their bodies are written, would otherwise delay every small request.
 */
const narrowPart = 0.15;

/**
 * The service per seat, in milliseconds, that a queue still owes when it becomes active again. Its last request may have
 * taken so long only because the process had no processor or the event loop was busy, and a few milliseconds are a hundred
 * requests of others.
 */
const debtMsMax = 0.2;

/** The queues of a level. Without queues, a request that cannot start is refused. */
export interface QueueShape {
  readonly queues: number;
  readonly handSize: number;
  /** Maximum number of requests that wait in one queue. */
  readonly lengthMax: number;
}

export const noQueues: QueueShape = { queues: 0, handSize: 0, lengthMax: 0 };

/** The reason why a request was refused, as in upstream's metrics. */
export type Refusal = "queue-full" | "concurrency-limit" | "time-out" | "cancelled";

interface Queue {
  readonly waiting: Set<Ticket>;
  /** Expected work of the waiting requests, in seat-milliseconds. */
  waitingWork: number;
  running: number;
  seatsInUse: number;
  /** Requests that wait, run or hold their final seats. */
  members: number;
  /** Virtual time up to which the queue has been served, in milliseconds. */
  nextDispatch: number;
}

/** A request in the queues. */
export interface Ticket {
  readonly seats: Seats;
  readonly queue: Queue;
  readonly arrivedMs: number;
  /** Virtual time of the arrival, but not ahead of another queue that waits. */
  readonly arrivedVirtualMs: number;
  startedMs: number;
  state: "waiting" | "running" | "lingering" | "gone";
}

/** The seats that the request occupies now. */
export function seatsHeldBy({ state, seats }: Pick<Ticket, "state" | "seats">): number {
  if (state === "running") return widestOf(seats);
  return state === "lingering" ? seats.final : 0;
}

/** The state of one queue, for the debug pages. */
export interface QueueState {
  readonly waiting: readonly Ticket[];
  readonly running: number;
  readonly seatsInUse: number;
  readonly nextDispatch: number;
}

/**
 * Fair queues for the seats of one priority level. While a queue has work, it gets the same share of the seats as the
 * others. A queue that was served more waits until the others have caught up (virtual time, as in Nagle's fair queueing).
 * Each call passes in the time, in milliseconds of a steady clock, so that tests can simulate it.
 *
 * The queues start nothing on their own: after each call that frees seats, the caller takes requests with `startNext`.
 */
export class FairQueues {
  #shape: QueueShape;
  #seatsMax: number;
  #queues: Queue[];
  /** The queues in which requests wait. */
  readonly #waitingQueues = new Set<Queue>();
  #virtualMs = 0;
  #observedMs: number;
  #seatsInUse = 0;
  /** Seats in use by narrow requests. */
  #narrowSeatsInUse = 0;
  #seatsWanted = 0;
  #activeQueues = 0;
  #waiting = 0;
  #running = 0;

  constructor(shape: QueueShape, seatsMax: number, nowMs: number) {
    this.#shape = shape;
    this.#seatsMax = seatsMax;
    this.#queues = Array.from({ length: Math.max(1, shape.queues) }, newQueue);
    this.#observedMs = nowMs;
  }

  get shape(): QueueShape {
    return this.#shape;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Running requests, without those that only hold their final seats. */
  get running(): number {
    return this.#running;
  }

  get seatsInUse(): number {
    return this.#seatsInUse;
  }

  /** Seats that waiting and running requests need. */
  get seatsWanted(): number {
    return this.#seatsWanted;
  }

  get seatsMax(): number {
    return this.#seatsMax;
  }

  get virtualMs(): number {
    return this.#virtualMs;
  }

  /** Maximum number of requests that may wait. */
  get capacity(): number {
    return this.#shape.queues * this.#shape.lengthMax;
  }

  /** Reports whether the queues hold no request. */
  get isIdle(): boolean {
    return this.#waiting === 0 && this.#seatsInUse === 0;
  }

  /** Returns the state of each queue; none for a level without queues. */
  queueStates(): QueueState[] {
    return this.#shape.queues === 0 ? [] : this.#queues.map((queue) => ({ ...queue, waiting: [...queue.waiting] }));
  }

  /** Returns the index of a request's queue, -1 for a level without queues. */
  queueIndexOf({ queue }: Ticket): number {
    return this.#shape.queues === 0 ? -1 : this.#queues.indexOf(queue);
  }

  /**
   * Starts the request, lets it wait, or refuses it.
   * @param hand indexes of the queues that the flow may use, from `dealHand`; empty without queues
   * @param mayStart whether the server has time for the request now
   */
  admit(seats: Seats, hand: readonly number[], nowMs: number, mayStart: boolean): Ticket | Refusal {
    this.#advance(nowMs);
    const queue = this.#queueFor(hand);
    const ticket: Ticket = {
      seats,
      queue,
      arrivedMs: nowMs,
      arrivedVirtualMs: this.#virtualMsBeside(queue),
      startedMs: nowMs,
      state: "waiting",
    };
    if (this.#waiting === 0 && mayStart && this.#fits(seats)) {
      this.#join(ticket);
      this.#start(ticket, nowMs);
      return ticket;
    }
    if (this.#shape.queues === 0) {
      if (!this.#fits(seats)) return "concurrency-limit";
    } else if (this.#seatsInUse >= this.#seatsMax && queue.waiting.size >= this.#shape.lengthMax) {
      return "queue-full";
    }
    this.#join(ticket);
    queue.waiting.add(ticket);
    this.#waitingQueues.add(queue);
    queue.waitingWork += workOf(seats);
    this.#waiting++;
    limitCredit(queue);
    return ticket;
  }

  /**
   * Starts the next request. Returns undefined if none waits, or if too few seats are free for it. While a wide request is
   * next and has to wait, narrow ones overtake it, but only into the seats that are left to them.
   */
  startNext(nowMs: number): Ticket | undefined {
    this.#advance(nowMs);
    if (this.#waiting === 0) return undefined;
    let next = this.#nextRequest(isAny);
    if (next !== undefined && !isNarrow(next) && !this.#fits(next.seats)) {
      next = this.#narrowSeatsInUse < this.#narrowSeats ? this.#nextRequest(isNarrow) : undefined;
    }
    if (next === undefined || !this.#fits(next.seats)) return undefined;
    this.#stopWaiting(next);
    this.#start(next, nowMs);
    return next;
  }

  /** Ends the wait of a request that has not started. */
  leave(ticket: Ticket, nowMs: number): void {
    if (ticket.state !== "waiting") return;
    ticket.state = "gone";
    this.#advance(nowMs);
    this.#stopWaiting(ticket);
    this.#part(ticket);
  }

  /**
   * Ends a request that has started. Returns for how many milliseconds it keeps its final seats; call `release` after
   * that. Nothing is left to do if the time is 0.
   */
  finish(ticket: Ticket, nowMs: number): number {
    if (ticket.state !== "running") return 0;
    this.#advance(nowMs);
    const { queue, seats } = ticket;
    // The queue was charged for the expected duration when the request started.
    queue.nextDispatch += workOf(seats, nowMs - ticket.startedMs) - workOf(seats);
    limitCredit(queue);
    this.#running--;
    if (seats.final === 0 || seats.lingerMs <= 0) {
      this.#giveBack(ticket, widestOf(seats));
      return 0;
    }
    ticket.state = "lingering";
    const surplus = widestOf(seats) - seats.final;
    this.#seatsInUse -= surplus;
    queue.seatsInUse -= surplus;
    return seats.lingerMs;
  }

  /** Frees the final seats of a request that has finished. */
  release(ticket: Ticket, nowMs: number): void {
    if (ticket.state !== "lingering") return;
    this.#advance(nowMs);
    this.#giveBack(ticket, ticket.seats.final);
  }

  /** Changes the number of seats. */
  resize(seatsMax: number, nowMs: number): void {
    this.#advance(nowMs);
    this.#seatsMax = seatsMax;
  }

  /**
   * Changes the configuration. Waiting requests stay where they are; surplus queues are dropped once they are empty, and
   * new requests use the new configuration.
   */
  reshape(shape: QueueShape): void {
    this.#shape = shape;
    const wanted = Math.max(1, shape.queues);
    while (this.#queues.length < wanted) this.#queues.push(newQueue());
    this.#dropSurplus();
  }

  #dropSurplus(): void {
    const wanted = Math.max(1, this.#shape.queues);
    while (this.#queues.length > wanted && !isActive(this.#queues.at(-1) as Queue)) this.#queues.pop();
  }

  /**
   * Moves the virtual time on by the work that was done for each queue. Requests can also wait for the event loop while
   * seats are free. Counting those seats would let the virtual time run ahead of the queues, and a flow that has just
   * come would wait behind everything that came before it.
   */
  #advance(nowMs: number): void {
    const passedMs = Math.max(0, nowMs - this.#observedMs);
    this.#observedMs = Math.max(nowMs, this.#observedMs);
    if (this.#activeQueues === 0) return;
    this.#virtualMs += (passedMs * Math.min(this.#seatsInUse, this.#seatsMax)) / this.#activeQueues;
  }

  /** Returns the queue of the hand with the least waiting work. */
  #queueFor(hand: readonly number[]): Queue {
    let best = this.#queues[hand[0] ?? 0] as Queue;
    for (let at = 1; at < hand.length && best.waitingWork > 0; at++) {
      const queue = this.#queues[hand[at] as number] as Queue;
      if (queue.waitingWork < best.waitingWork) best = queue;
    }
    return best;
  }

  /** Seats that wide requests do not take. */
  get #narrowSeats(): number {
    return Math.floor(narrowPart * this.#seatsMax);
  }

  /** A request that needs more than all seats starts when nothing else runs, so that it does not wait forever. */
  #fits(seats: Seats): boolean {
    const wanted = widestOf(seats);
    const left = wanted === 1 ? 0 : Math.max(0, this.#narrowSeats - this.#narrowSeatsInUse);
    return this.#seatsInUse === 0 || this.#seatsInUse + wanted + left <= this.#seatsMax;
  }

  /** Returns the request that is next among the oldest ones of each queue. */
  #nextRequest(may: (ticket: Ticket) => boolean): Ticket | undefined {
    let best: Ticket | undefined;
    let bestTime = Number.POSITIVE_INFINITY;
    for (const queue of this.#waitingQueues) {
      const oldest = oldestOf(queue);
      if (oldest === undefined || !may(oldest)) continue;
      const time = queue.nextDispatch + workOf(oldest.seats);
      if (time < bestTime) [best, bestTime] = [oldest, time];
    }
    return best;
  }

  /** Returns the virtual time, or that of the other waiting queue that was served the least if it is behind. */
  #virtualMsBeside(own: Queue): number {
    let least = this.#virtualMs;
    for (const queue of this.#waitingQueues) {
      if (queue !== own && queue.nextDispatch < least) least = queue.nextDispatch;
    }
    return least;
  }

  #join({ queue, seats }: Ticket): void {
    if (!isActive(queue)) {
      this.#activeQueues++;
      // An idle queue accumulates no credit, keeps little debt, and is not behind any queue that waits.
      const leastMs = this.#virtualMsBeside(queue);
      queue.nextDispatch = Math.max(leastMs, Math.min(queue.nextDispatch, leastMs + debtMsMax * widestOf(seats)));
    }
    queue.members++;
    this.#seatsWanted += widestOf(seats);
  }

  #part({ queue, seats }: Ticket): void {
    queue.members--;
    this.#seatsWanted -= widestOf(seats);
    if (!isActive(queue)) {
      this.#activeQueues--;
      this.#dropSurplus();
    }
  }

  #start(ticket: Ticket, nowMs: number): void {
    const { queue, seats } = ticket;
    ticket.state = "running";
    ticket.startedMs = nowMs;
    queue.nextDispatch += workOf(seats);
    queue.running++;
    queue.seatsInUse += widestOf(seats);
    this.#seatsInUse += widestOf(seats);
    if (isNarrow(ticket)) this.#narrowSeatsInUse++;
    this.#running++;
  }

  #stopWaiting(ticket: Ticket): void {
    const { queue, seats } = ticket;
    queue.waiting.delete(ticket);
    if (queue.waiting.size === 0) this.#waitingQueues.delete(queue);
    queue.waitingWork -= workOf(seats);
    this.#waiting--;
    limitCredit(queue);
  }

  #giveBack(ticket: Ticket, seats: number): void {
    ticket.state = "gone";
    ticket.queue.running--;
    ticket.queue.seatsInUse -= seats;
    this.#seatsInUse -= seats;
    if (isNarrow(ticket)) this.#narrowSeatsInUse--;
    this.#part(ticket);
  }
}

function newQueue(): Queue {
  return { waiting: new Set(), waitingWork: 0, running: 0, seatsInUse: 0, members: 0, nextDispatch: 0 };
}

/** Asking for the size costs less than an iterator. */
function oldestOf({ waiting }: Queue): Ticket | undefined {
  if (waiting.size === 0) return undefined;
  const [oldest] = waiting;
  return oldest;
}

/**
 * Advances a queue to the arrival of its oldest request. A queue that uses less than its share without ever becoming idle
 * would otherwise accumulate credit, and later delay the others.
 */
function limitCredit(queue: Queue): void {
  const oldest = oldestOf(queue);
  if (oldest !== undefined) queue.nextDispatch = Math.max(queue.nextDispatch, oldest.arrivedVirtualMs);
}

function isNarrow({ seats }: Ticket): boolean {
  return widestOf(seats) === 1;
}

function isAny(): boolean {
  return true;
}

function isActive({ members }: Queue): boolean {
  return members > 0;
}
