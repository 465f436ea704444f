import { expect, test } from "bun:test";
import { ManualClock } from "../storage/cacher/testing.ts";
import { releaseStartMemory, type StartedProcess } from "./release-start-memory.ts";

const secondMs = 1_000;

class Measured implements StartedProcess {
  readonly clock = new ManualClock();
  usedMs = 500;
  heap = 20_000_000;
  shrunk = 0;

  cpuMs = () => this.usedMs;
  heapBytes = () => this.heap;
  shrink = () => void this.shrunk++;

  /** Uses CPU time for two seconds. */
  run(cpuMs: number): void {
    this.usedMs += cpuMs;
    this.clock.advance(2 * secondMs);
  }
}

test("releases memory once, when the process is idle for the first time", () => {
  const started = new Measured();
  releaseStartMemory(started.clock, started);
  started.run(300);
  expect(started.shrunk).toBe(0);
  started.run(20);
  expect(started.shrunk).toBe(1);
  started.run(20);
  expect(started.shrunk).toBe(1);
});

test("releases it beside 100,000 objects too", () => {
  const started = new Measured();
  releaseStartMemory(started.clock, started);
  started.heap = 250_000_000;
  started.run(20);
  expect(started.shrunk).toBe(1);
});

test("leaves a larger heap alone", () => {
  const started = new Measured();
  releaseStartMemory(started.clock, started);
  started.heap = 300_000_000;
  started.run(20);
  started.heap = 20_000_000;
  started.run(20);
  expect(started.shrunk).toBe(0);
});

test("stops with the server", () => {
  const started = new Measured();
  releaseStartMemory(started.clock, started)[Symbol.dispose]();
  started.run(20);
  expect(started.shrunk).toBe(0);
});
