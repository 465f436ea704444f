import { describe, expect, test } from "bun:test";
import { FairQueues, noQueues, type QueueShape, type Ticket } from "./fair-queues.ts";
import { oneSeat, type Seats, widestOf, workOf } from "./seats.ts";

const shape: QueueShape = { queues: 4, handSize: 1, lengthMax: 2 };

function admitted(queues: FairQueues, queue: number, nowMs = 0, seats: Seats = oneSeat): Ticket {
  const outcome = queues.admit(seats, [queue], nowMs, true);
  if (typeof outcome === "string") throw new Error(`refused: ${outcome}`);
  return outcome;
}

function wide(initial: number): Seats {
  return { ...oneSeat, initial };
}

describe("FairQueues", () => {
  test("requests start at once while there are seats, and wait afterwards", () => {
    const queues = new FairQueues(shape, 2, 0);
    expect([0, 0, 0].map((queue) => admitted(queues, queue).state)).toEqual(["running", "running", "waiting"]);
    expect(queues.startNext(1)).toBeUndefined();
  });

  test("a seat that is given back goes to the request that waits", () => {
    const queues = new FairQueues(shape, 1, 0);
    const first = admitted(queues, 0);
    const second = admitted(queues, 0);
    queues.finish(first, 5);
    expect(queues.startNext(5)).toBe(second);
    expect(second.state).toBe("running");
  });

  test("a full queue refuses", () => {
    const queues = new FairQueues(shape, 1, 0);
    for (let count = 0; count < 3; count++) admitted(queues, 0);
    expect(queues.admit(oneSeat, [0], 0, true)).toBe("queue-full");
    expect(admitted(queues, 1).state).toBe("waiting");
  });

  test("without queues, a request that cannot start is refused", () => {
    const queues = new FairQueues(noQueues, 1, 0);
    const only = queues.admit(oneSeat, [], 0, true);
    expect(queues.admit(oneSeat, [], 0, true)).toBe("concurrency-limit");
    queues.finish(only as Ticket, 1);
    expect(queues.admit(oneSeat, [], 1, true)).toMatchObject({ state: "running" });
  });

  test("a request waits while the server has no time, even if seats are free", () => {
    for (const each of [shape, noQueues]) {
      const queues = new FairQueues(each, 2, 0);
      const ticket = queues.admit(oneSeat, each === noQueues ? [] : [0], 0, false);
      expect(ticket).toMatchObject({ state: "waiting" });
      expect(queues.startNext(1)).toBe(ticket as Ticket);
    }
  });

  test("a request joins the queue of its hand with the least waiting work", () => {
    const queues = new FairQueues(shape, 1, 0);
    admitted(queues, 3);
    admitted(queues, 0, 0, wide(5));
    admitted(queues, 1, 0, wide(2));
    const ticket = queues.admit(oneSeat, [0, 1], 0, true) as Ticket;
    expect(queues.queueStates()[1]?.waiting).toContain(ticket);
  });

  test("a request wider than all seats runs alone", () => {
    const queues = new FairQueues(shape, 3, 0);
    const first = admitted(queues, 0);
    const broad = admitted(queues, 1, 0, wide(9));
    expect(queues.startNext(1)).toBeUndefined();
    queues.finish(first, 2);
    expect(queues.startNext(2)).toBe(broad);
    expect(admitted(queues, 2, 3).state).toBe("waiting");
  });

  test("final seats stay taken until they are released", () => {
    const queues = new FairQueues(shape, 4, 0);
    const write = admitted(queues, 0, 0, { initial: 1, final: 3, lingerMs: 10 });
    expect(queues.seatsInUse).toBe(3);
    expect(queues.finish(write, 5)).toBe(10);
    expect([queues.seatsInUse, queues.running]).toEqual([3, 0]);
    queues.release(write, 15);
    queues.release(write, 16);
    expect(queues.isIdle).toBe(true);
  });

  test("a request that gives up leaves no trace, and the next one may start", () => {
    const queues = new FairQueues(shape, 2, 0);
    const running = admitted(queues, 0);
    const broad = admitted(queues, 1, 0, wide(2));
    const narrow = admitted(queues, 2, 0);
    queues.leave(broad, 1);
    queues.leave(broad, 1);
    expect(queues.startNext(1)).toBe(narrow);
    for (const ticket of [running, narrow]) queues.finish(ticket, 2);
    expect(queues).toMatchObject({ isIdle: true, seatsWanted: 0, waiting: 0 });
  });

  test("a queue that is never idle saves up no time", () => {
    const queues = new FairQueues(shape, 2, 0);
    admitted(queues, 0);
    admitted(queues, 1);
    admitted(queues, 0, 100);
    // Two seats for two queues: virtual time passes as fast as the clock.
    expect(queues.queueStates()[0]?.nextDispatch).toBe(100);
  });

  test("a flow that comes while others wait for time, and not for seats, is among the next", () => {
    const queues = new FairQueues({ ...shape, lengthMax: 100 }, 100, 0);
    for (let sent = 0; sent < 100; sent++) queues.admit(oneSeat, [sent % 2], 0, false);
    // Now and then a request takes long, and its queue gets ahead of the other.
    for (let nowMs = 0; nowMs < 40; nowMs++) queues.finish(queues.startNext(nowMs) as Ticket, nowMs + (nowMs % 8) / 8);
    const ticket = queues.admit(oneSeat, [3], 40, false) as Ticket;
    const next = [queues.startNext(40), queues.startNext(40)];
    expect(next).toContain(ticket);
  });

  test("a flow whose last request stood still with the whole process waits for a few others, not for a hundred", () => {
    const queues = new FairQueues({ ...shape, lengthMax: 1_000 }, 100, 0);
    for (let sent = 0; sent < 400; sent++) queues.admit(oneSeat, [sent % 2], 0, false);
    const stalled = queues.admit(oneSeat, [3], 0, false) as Ticket;
    let nowMs = 0;
    const serve = () => {
      const ticket = queues.startNext(nowMs) as Ticket;
      nowMs += ticket === stalled ? 100 : 0.05;
      queues.finish(ticket, nowMs);
      return ticket;
    };
    while (stalled.state !== "gone") serve();
    const next = queues.admit(oneSeat, [3], nowMs, false);
    let others = 0;
    while (serve() !== next) others++;
    expect(others).toBeLessThan(12);
  });

  test("requests in queues that a new shape drops are still served", () => {
    const queues = new FairQueues(shape, 1, 0);
    const running = admitted(queues, 3);
    const waiting = admitted(queues, 3);
    queues.reshape({ ...shape, queues: 1 });
    expect(queues.queueStates()).toHaveLength(4);
    queues.finish(running, 1);
    expect(queues.startNext(1)).toBe(waiting);
    queues.finish(waiting, 2);
    expect(queues.queueStates()).toHaveLength(1);
  });
});

/** A request of the simulation. */
interface Job {
  readonly flow: number;
  readonly ticket: Ticket;
  readonly serviceMs: number;
  endMs: number | undefined;
  releaseMs: number | undefined;
}

const seed = Bun.env["SEED"] === undefined ? Math.floor(Math.random() * 2 ** 32) : Number(Bun.env["SEED"]);

/** Returns numbers in [0, 1) that depend only on the seed (mulberry32). */
function chanceOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Runs a random load through the queues in virtual time, and checks after each event that nothing is lost. */
class Simulation {
  readonly #chance: () => number;
  readonly #seatsMax: number;
  readonly #queues: FairQueues;
  readonly #jobs = new Set<Job>();
  readonly #byTicket = new Map<Ticket, Job>();
  nowMs = 0;
  arrived = 0;
  refused = 0;
  served = 0;
  left = 0;
  longestWaitMs = 0;
  readonly workByFlow: number[] = [];

  constructor(start: number, queueShape: QueueShape, seatsMax: number) {
    this.#chance = chanceOf(start);
    this.#seatsMax = seatsMax;
    this.#queues = new FairQueues(queueShape, seatsMax, 0);
  }

  get waiting(): number {
    return this.#queues.waiting;
  }

  arrive(flow: number, seats: Seats, serviceMs: number): void {
    this.arrived++;
    const ticket = this.#queues.admit(seats, [flow % this.#queues.queueStates().length], this.nowMs, true);
    if (typeof ticket === "string") {
      this.refused++;
      return;
    }
    const job: Job = { flow, ticket, serviceMs, endMs: undefined, releaseMs: undefined };
    this.#jobs.add(job);
    this.#byTicket.set(ticket, job);
    if (ticket.state === "running") this.#begin(job);
    this.#startAll();
  }

  /** Lets a random waiting request give up. */
  cancelOne(): void {
    const waiting = [...this.#jobs].filter(({ ticket }) => ticket.state === "waiting");
    const job = waiting[Math.floor(this.#chance() * waiting.length)];
    if (job === undefined) return;
    this.#queues.leave(job.ticket, this.nowMs);
    this.#forget(job);
    this.left++;
    this.#startAll();
  }

  /** Advances to `untilMs`, and ends every job that is due. */
  advance(untilMs: number): void {
    for (let due = this.#nextDue(untilMs); due !== undefined; due = this.#nextDue(untilMs)) {
      this.nowMs = dueMs(due);
      this.#end(due);
      this.#startAll();
    }
    this.nowMs = untilMs;
  }

  random(below: number): number {
    return this.#chance() * below;
  }

  check(): void {
    const { seatsInUse, running } = this.#queues;
    if (seatsInUse > this.#seatsMax && running > 1) throw new Error(`${seatsInUse} seats are taken`);
    const inside = this.#jobs.size;
    expect(this.refused + this.served + this.left + inside).toBe(this.arrived);
    expect(this.#queues.isIdle).toBe(inside === 0);
  }

  /** Returns the job with the earliest end until then. */
  #nextDue(untilMs: number): Job | undefined {
    let next: Job | undefined;
    for (const job of this.#jobs) {
      if (dueMs(job) <= untilMs && (next === undefined || dueMs(job) < dueMs(next))) next = job;
    }
    return next;
  }

  #begin(job: Job): void {
    job.endMs = this.nowMs + job.serviceMs;
    this.longestWaitMs = Math.max(this.longestWaitMs, this.nowMs - job.ticket.arrivedMs);
  }

  #end(job: Job): void {
    if (job.releaseMs !== undefined) {
      this.#queues.release(job.ticket, this.nowMs);
      this.#forget(job);
      this.served++;
      return;
    }
    this.workByFlow[job.flow] = (this.workByFlow[job.flow] ?? 0) + workOf(job.ticket.seats, job.serviceMs);
    const lingerMs = this.#queues.finish(job.ticket, this.nowMs);
    if (lingerMs > 0) {
      job.releaseMs = this.nowMs + lingerMs;
      return;
    }
    this.#forget(job);
    this.served++;
  }

  #forget(job: Job): void {
    this.#jobs.delete(job);
    this.#byTicket.delete(job.ticket);
  }

  #startAll(): void {
    for (let next = this.#queues.startNext(this.nowMs); next !== undefined; ) {
      this.#begin(this.#byTicket.get(next) as Job);
      next = this.#queues.startNext(this.nowMs);
    }
  }
}

function dueMs({ endMs, releaseMs }: Job): number {
  return releaseMs ?? endMs ?? Number.POSITIVE_INFINITY;
}

describe(`under random load, seed ${seed}`, () => {
  test("no request is lost, and seats are never given twice", () => {
    for (let run = 0; run < 30; run++) {
      const simulation = new Simulation(seed + run, { queues: 8, handSize: 1, lengthMax: 20 }, 6);
      for (let step = 0; step < 400; step++) {
        simulation.advance(simulation.nowMs + simulation.random(4));
        const final = simulation.random(1) < 0.2 ? 1 + Math.floor(simulation.random(4)) : 0;
        const seats = { initial: 1 + Math.floor(simulation.random(8)), final, lingerMs: simulation.random(20) };
        if (simulation.random(1) < 0.1) simulation.cancelOne();
        else simulation.arrive(Math.floor(simulation.random(12)), seats, simulation.random(10));
        simulation.check();
      }
      simulation.advance(simulation.nowMs + 1_000_000);
      expect(simulation.waiting).toBe(0);
      simulation.check();
    }
  });

  test("flows that always wait get the same share, whatever their number of requests and their width", () => {
    const simulation = new Simulation(seed, { queues: 4, handSize: 1, lengthMax: 20 }, 8);
    // Flow 0 sends ten times as many requests, flow 1 takes wide seats, flow 2 runs long.
    const serviceMs = [3, 3, 12];
    const width = [1, 4, 1];
    for (let step = 0; step < 800; step++) {
      for (const [flow, count] of [20, 3, 3].entries()) {
        for (let sent = 0; sent < count; sent++) {
          simulation.arrive(flow, wide(width[flow] as number), simulation.random(2) * (serviceMs[flow] as number));
        }
      }
      simulation.advance(simulation.nowMs + 3);
    }
    const mean = simulation.workByFlow.reduce((sum, work) => sum + work, 0) / 3;
    for (const work of simulation.workByFlow) expect(Math.abs(work / mean - 1)).toBeLessThan(0.1);
  });

  test("a modest flow hardly waits beside greedy ones", () => {
    const simulation = new Simulation(seed, { queues: 16, handSize: 1, lengthMax: 20 }, 4);
    const modestWaits: number[] = [];
    for (let step = 0; step < 500; step++) {
      for (let flow = 0; flow < 8; flow++) simulation.arrive(flow, oneSeat, 3);
      if (step % 10 === 0) {
        simulation.longestWaitMs = 0;
        simulation.arrive(15, oneSeat, 3);
        const before = simulation.workByFlow[15] ?? 0;
        for (let ms = 0; ms < 100 && (simulation.workByFlow[15] ?? 0) === before; ms++) {
          simulation.advance(simulation.nowMs + 1);
          if ((simulation.workByFlow[15] ?? 0) !== before) modestWaits.push(ms);
        }
      }
      simulation.advance(simulation.nowMs + 2);
    }
    expect(modestWaits.length).toBe(50);
    // Its own service time, plus at most two of others.
    expect(Math.max(...modestWaits)).toBeLessThanOrEqual(12);
  });

  test("a wide request is not overtaken for ever by narrow ones", () => {
    const simulation = new Simulation(seed, { queues: 8, handSize: 1, lengthMax: 20 }, 4);
    for (let step = 0; step < 500; step++) {
      for (let flow = 0; flow < 6; flow++) simulation.arrive(flow, oneSeat, 3);
      if (step === 50) simulation.arrive(7, wide(4), 3);
      simulation.advance(simulation.nowMs + 3);
      if (step === 200) expect(simulation.workByFlow[7]).toBe(widestOf(wide(4)) * 3);
    }
  });
});
