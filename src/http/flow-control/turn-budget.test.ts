import { describe, expect, test } from "bun:test";
import { type Cost, type SimulatedRequest, SimulatedServer } from "./testing.ts";

const seed = Number(Bun.env["SEED"] ?? Date.now() % 1_000_000);
console.log(`replay: SEED=${seed} bun test src/http/flow-control/turn-budget.test.ts`);

/** Returns a stream of numbers in [0, 1) that depends only on the seed (mulberry32). */
function chanceOf(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const get: Cost = { inputMs: 0.05, startMs: 0.03, continuedMs: 0.05, slices: 0, sliceMs: 0 };
/** A list of 20 MB in slabs of 256 KiB. */
const list: Cost = { inputMs: 0.05, startMs: 0.05, continuedMs: 0.8, slices: 80, sliceMs: 0.4 };
const modestGet = "/api/v1/namespaces/default/configmaps/a";
const warmUpMs = 300;
const runMs = 700;

interface Outcome {
  readonly server: SimulatedServer;
  /** Latencies of the modest client, shortest first. */
  readonly latencies: readonly number[];
  readonly greedyAnswers: number;
}

/** Runs a modest client, which pauses between its requests, beside greedy clients of one user, which do not. */
function beside(clients: number, path: string, cost: Cost): Outcome {
  const chance = chanceOf(seed);
  const server = new SimulatedServer(600);
  const varied = (): Cost => ({ ...cost, startMs: cost.startMs * (0.5 + chance()) });
  let greedyAnswers = 0;
  const greedy = (arrivesMs: number): SimulatedRequest => ({
    user: "greedy",
    path,
    arrivesMs,
    cost: varied(),
    done(endMs) {
      greedyAnswers++;
      return greedy(endMs + chance());
    },
  });
  const latencies: number[] = [];
  const modest = (arrivesMs: number): SimulatedRequest => ({
    user: "modest",
    path: modestGet,
    arrivesMs,
    cost: get,
    done(endMs) {
      latencies.push(endMs - arrivesMs);
      return modest(endMs + 1 + 2 * chance());
    },
  });
  const startMs = server.nowMs;
  for (let client = 0; client < clients; client++) server.send(greedy(startMs + (warmUpMs / 2) * chance()));
  server.runUntil(startMs + warmUpMs);
  server.longestTurnMs = 0;
  server.busyMs = 0;
  server.send(modest(server.nowMs));
  server.runUntil(startMs + warmUpMs + runMs);
  return { server, latencies: latencies.sort((a, b) => a - b), greedyAnswers };
}

function p99({ latencies }: Outcome): number {
  return latencies[Math.floor(latencies.length * 0.99)] as number;
}

describe(`one thread in simulated time, seed ${seed}`, () => {
  test("a thousand greedy clients delay a modest one by two turns at most, and get the rest of the time", () => {
    const outcome = beside(1_000, modestGet, get);
    expect(outcome.latencies.length).toBeGreaterThan(100);
    expect(outcome.server.longestTurnMs).toBeLessThan(4);
    expect(p99(outcome)).toBeLessThan(2 * outcome.server.longestTurnMs);
    expect(outcome.server.busyMs).toBeGreaterThan(0.95 * runMs);
    expect(outcome.server.refused).toBe(0);
  });

  test("64 full lists delay a modest client by a few turns, although they keep their seats for long", () => {
    const outcome = beside(64, "/api/v1/configmaps", list);
    expect(outcome.latencies.length).toBeGreaterThan(100);
    expect(outcome.server.longestTurnMs).toBeLessThan(4);
    expect(p99(outcome)).toBeLessThan(10);
    expect(outcome.greedyAnswers).toBeGreaterThan(0.9 * (runMs / (list.slices * list.sliceMs)));
  });

  test("a modest client that is alone does not wait", () => {
    const outcome = beside(0, modestGet, get);
    expect(Math.max(...outcome.latencies)).toBeLessThan(get.inputMs + get.startMs + get.continuedMs + 0.01);
  });
});
