import { describe, expect, test } from "bun:test";
import type { Index, MemberId } from "../../core/ids.ts";
import { membershipOf } from "../../core/membership.ts";
import { isQuorum, quorumsMeet } from "./checker.ts";
import { EventQueue } from "./event-queue.ts";
import { decodeCommand, encodeCommand, RegisterMachine } from "./register-machine.ts";
import { regressionSeeds } from "./regression-seeds.ts";
import { patienceMs, testSeeds } from "./seed-tests.ts";
import { SeededRandom } from "./seeded-random.ts";
import { Simulation } from "./simulation.ts";

const ids = (...members: number[]) => members as MemberId[];

testSeeds("clusters under a seed keep every rule and come to rest", {
  program: "raft/testing/run.ts",
  simulate: (seed, steps) => new Simulation(seed).run(steps),
  seeds: 500,
  steps: 12_000,
  regressions: regressionSeeds,
});

test.each([3, 14, 159])("seed %d takes the same course every time", (seed) => {
  expect(new Simulation(seed).run(5_000)).toEqual(new Simulation(seed).run(5_000));
});

test(
  "seeds take different courses and cover the intended situations",
  () => {
    const reports = Array.from({ length: 60 }, (_, at) => new Simulation(1_000 + at).run(10_000));
    expect(new Set(reports.map(({ trace }) => trace)).size).toBe(reports.length);
    const sum = (count: (report: (typeof reports)[number]) => number) =>
      reports.reduce((all, one) => all + count(one), 0);
    expect(sum(({ decided }) => decided)).toBeGreaterThan(3_000);
    expect(sum(({ reads }) => reads)).toBeGreaterThan(3_000);
    expect(sum(({ crashes }) => crashes)).toBeGreaterThan(500);
    expect(sum(({ termsLed }) => termsLed)).toBeGreaterThan(150);
    expect(sum(({ snapshots }) => snapshots)).toBeGreaterThan(20);
    expect(sum(({ membershipChanges }) => membershipChanges)).toBeGreaterThan(100);
  },
  patienceMs,
);

test(
  "lying disks are detected",
  () => {
    const honest = Array.from({ length: 40 }, (_, seed) => seed + 1).filter((seed) => {
      try {
        new Simulation(seed, { disksLie: true }).run(20_000);
        return true;
      } catch {
        return false;
      }
    });
    expect(honest.length).toBeLessThan(20);
  },
  patienceMs,
);

describe("the checker", () => {
  test.each([
    [ids(1, 2, 3), ids(1, 2, 3, 4), true],
    [ids(1, 2, 3), ids(1, 2, 4), false],
    [ids(1, 2), ids(1, 2, 3, 4), true],
    [ids(1, 2), ids(1, 2, 3, 4, 5), false],
    [ids(1, 2, 3), ids(3, 4, 5), false],
    [ids(1), ids(2), false],
  ])("quorums of %p and %p always meet: %p", (left, right, meet) => {
    expect(quorumsMeet(membershipOf(left), membershipOf(right))).toBe(meet);
  });

  test("a joint membership needs both halves", () => {
    const joint = { ...membershipOf(ids(1, 4, 5)), outgoing: ids(1, 2, 3) };
    expect(isQuorum(joint, (member) => member !== 2 && member !== 3)).toBe(false);
    expect(isQuorum(joint, (member) => member !== 2 && member !== 5)).toBe(true);
  });
});

test("the event queue returns the earliest event first, and of two at the same time the older one", () => {
  const random = new SeededRandom(7);
  const queue = new EventQueue<{ time: number; order: number; at: number }>();
  for (let at = 0; at < 500; at++) queue.push({ time: random.below(50), order: 0, at });
  const popped = Array.from({ length: 500 }, () => queue.pop()).map((event) => [event?.time ?? 0, event?.at ?? 0]);
  expect(popped).toEqual([...popped].sort(([time = 0, at = 0], [time2 = 0, at2 = 0]) => time - time2 || at - at2));
  expect([queue.size, queue.pop()]).toEqual([0, undefined]);
});

test("a command has an effect once, however often it is applied", () => {
  const machine = new RegisterMachine(0 as Index, 0, new Int32Array(2));
  const entry = (index: number, sequence: number) => {
    return { index, term: 1, kind: "normal", data: encodeCommand({ client: 1, sequence }, 9) } as never;
  };
  expect(machine.apply(entry(1, 70_000))).toEqual({ client: 1, sequence: 70_000 });
  expect(machine.apply(entry(2, 70_000))).toBeUndefined();
  expect([...machine.registers]).toEqual([0, 70_000]);
  expect(decodeCommand(encodeCommand({ client: 3, sequence: 2 ** 31 - 1 }))).toEqual({
    client: 3,
    sequence: 2 ** 31 - 1,
  });
});
