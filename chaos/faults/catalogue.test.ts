import { expect, test } from "bun:test";
import { random } from "../../raft/testing/seed.ts";
import { faultNamed, faults, goTogether, sizeFor, whyNot } from "./catalogue.ts";
import { planFaults } from "./schedule.ts";

test("every class has a unique name and can be run with some number of members", () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(faults.length);
  for (const fault of faults) {
    expect(faultNamed(fault.name)).toBe(fault);
    expect(whyNot({ ...fault, membersMin: 8 }, { ...sizeFor(fault), members: 7 })).toContain("needs 8 members");
  }
});

test("two classes without common parts can be named together", () => {
  expect(faultNamed("starve-leader+isolate-leader")).toMatchObject({ membersMin: 3, parts: ["process", "network"] });
  expect(faultNamed("kill-one+clock-ahead")?.needs).toBe("faketime");
  for (const name of ["kill-one+pause-one", "kill-one+", "+", "kill-one+halves+clock-ahead", "kill-one+flood"]) {
    expect(faultNamed(name)).toBeUndefined();
  }
});

test("the same seed plans the same faults", () => {
  const seed = Math.floor(random() * 2 ** 31);
  expect(planFaults(seed, faults)).toEqual(planFaults(seed, faults));
  expect(planFaults(seed, faults)).not.toEqual(planFaults(seed + 1, faults));
  expect(planFaults(seed, [])).toEqual([]);
});

test("two faults at the same time do not touch the same part", () => {
  const pairs = planFaults(1, faults).filter((planned) => planned.faults.length === 2);
  expect(pairs.length).toBeGreaterThan(100);
  for (const { faults: pair } of pairs) {
    const [left, right] = pair as [(typeof pair)[0], (typeof pair)[0]];
    expect(goTogether(left, right)).toBe(true);
    expect(left.parts.filter((part) => right.parts.includes(part))).toEqual([]);
  }
});
