import { describe, expect, test } from "bun:test";
import { random, seed } from "../../raft/testing/seed.ts";
import { absent, linearize, type State, type Step } from "./linearizability.ts";

const write = (callMs: number, returnMs: number, next: State): Step => ({ callMs, returnMs, allows: () => true, next });
const swap = (callMs: number, returnMs: number, from: State, next: State): Step => ({
  callMs,
  returnMs,
  allows: (state) => state === from,
  next,
});
const read = (callMs: number, returnMs: number, found: State): Step => ({
  callMs,
  returnMs,
  allows: (state) => state === found,
  next: undefined,
});

describe("histories by hand", () => {
  test.each<[what: string, verdict: "linearizable" | "violation", steps: Step[]]>([
    ["nothing", "linearizable", []],
    ["a write, then a read of it", "linearizable", [write(0, 1, 1), read(2, 3, 1)]],
    ["a read that does not see the write before it", "violation", [write(0, 1, 1), read(2, 3, absent)]],
    ["a read during a write, before it", "linearizable", [write(0, 9, 1), read(2, 3, absent)]],
    ["a read during a write, after it", "linearizable", [write(0, 9, 1), read(2, 3, 1)]],
    ["new, then old, during one write", "violation", [write(0, 9, 1), read(1, 2, 1), read(3, 4, absent)]],
    ["old, then new, during one write", "linearizable", [write(0, 9, 1), read(1, 2, absent), read(3, 4, 1)]],
    ["reads that touch see both", "linearizable", [write(0, 9, 1), read(1, 3, 1), read(3, 4, absent)]],
    ["a value that nobody wrote", "violation", [write(0, 1, 1), read(2, 3, 7)]],
    ["two writers, two orders", "violation", [write(0, 9, 1), write(0, 9, 2), read(10, 11, 1), read(12, 13, 2)]],
    ["two swaps of one state", "violation", [write(0, 1, 1), swap(2, 9, 1, 2), swap(2, 9, 1, 3)]],
    ["two swaps in a chain", "linearizable", [write(0, 1, 1), swap(2, 9, 2, 3), swap(2, 9, 1, 2)]],
    ["an unknown write that is seen", "linearizable", [write(0, Infinity, 1), read(50, 51, 1)]],
    ["an unknown write that is never seen", "linearizable", [write(0, Infinity, 1), read(50, 51, absent)]],
    ["an unknown write is seen, then gone", "violation", [write(0, Infinity, 1), read(5, 6, 1), read(7, 8, absent)]],
    ["an unknown write is seen before its call", "violation", [read(0, 1, 1), write(2, Infinity, 1)]],
    [
      "an unknown write comes late and overwrites",
      "linearizable",
      [write(0, Infinity, 1), write(2, 3, 2), read(4, 5, 2), read(6, 7, 1)],
    ],
    [
      "an unknown write takes effect twice",
      "violation",
      [write(0, Infinity, 1), read(1, 2, 1), write(3, 4, 2), read(5, 6, 2), read(7, 8, 1)],
    ],
    [
      "a stale read after a read of the new value elsewhere",
      "violation",
      [write(0, 1, 1), write(2, 20, 2), read(3, 4, 2), read(5, 6, 1)],
    ],
    [
      "a long chain of swaps with a lost one",
      "violation",
      [write(0, 1, 1), swap(2, 3, 1, 2), swap(4, 5, 2, 3), swap(6, 7, 2, 4)],
    ],
  ])("%s: %s", (_, verdict, steps) => {
    expect(linearize(steps).kind).toBe(verdict);
    expect(linearize([...steps].reverse()).kind).toBe(verdict);
  });

  test("the verdict names the step that has no place, and the possible states", () => {
    expect(linearize([write(0, 1, 1), write(2, 3, 2), read(4, 5, 1)])).toEqual({
      kind: "violation",
      at: 2,
      states: [2],
    });
  });

  test("more open operations than bits give an undecided verdict", () => {
    const many = Array.from({ length: 31 }, (_, number) => write(number, Infinity, number + 1));
    expect(linearize(many).kind).toBe("undecided");
  });

  test("more configurations than the limit give an undecided verdict", () => {
    const many = Array.from({ length: 24 }, (_, number) => write(number, Infinity, number + 1));
    expect(linearize([...many, read(100, 101, 3)]).kind).toBe("undecided");
  });
});

const below = (limit: number) => Math.floor(random() * limit);

/** Tries every order. */
function isLinearizableByBruteForce(steps: readonly Step[], state: State = absent): boolean {
  if (steps.every(({ returnMs }) => returnMs === Infinity)) return true;
  return steps.some((step, index) => {
    if (steps.some(({ returnMs }) => returnMs < step.callMs) || !step.allows(state)) return false;
    return isLinearizableByBruteForce(steps.toSpliced(index, 1), step.next ?? state);
  });
}

function randomStep(): Step {
  const callMs = below(12);
  const returnMs = random() < 0.2 ? Infinity : callMs + 1 + below(6);
  const state = below(4);
  const kind = random();
  if (kind < 0.4) return read(callMs, returnMs === Infinity ? callMs + 1 : returnMs, state);
  return kind < 0.7 ? write(callMs, returnMs, 1 + below(3)) : swap(callMs, returnMs, state, 1 + below(3));
}

test(`the search agrees with trying every order on random histories, seed ${seed}`, () => {
  const verdicts = { linearizable: 0, violation: 0, undecided: 0 };
  for (let round = 0; round < 6000; round++) {
    const steps = Array.from({ length: 2 + below(6) }, randomStep);
    const { kind } = linearize(steps);
    verdicts[kind]++;
    expect({ steps: String(steps.map((one) => JSON.stringify(one))), kind }).toEqual({
      steps: String(steps.map((one) => JSON.stringify(one))),
      kind: isLinearizableByBruteForce(steps) ? "linearizable" : "violation",
    });
  }
  expect(verdicts.linearizable).toBeGreaterThan(500);
  expect(verdicts.violation).toBeGreaterThan(500);
});
