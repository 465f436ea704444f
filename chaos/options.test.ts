import { expect, test } from "bun:test";
import { faultNamed, sizeFor, whyNot } from "./faults/catalogue.ts";
import type { Fault } from "./faults/fault.ts";
import { faultsOf, parseOptions, UsageError } from "./options.ts";

test("the defaults are one run, and the short form is six", () => {
  expect(parseOptions([])).toMatchObject({ runs: 1, seconds: 30, faults: undefined });
  expect(parseOptions(["--short", "--seed", "7"])).toMatchObject({ runs: 6, seconds: 20, seed: 7 });
  expect(parseOptions(["--list"])).toBeUndefined();
});

test("named faults keep their order, and without names some are chosen by the seed", () => {
  const options = parseOptions(["--faults", "kill-one,power-cut-one"]);
  expect(options?.faults?.map(({ name }) => name)).toEqual(["kill-one", "power-cut-one"]);
  const free = parseOptions(["--members", "3"])!;
  expect(faultsOf(free, 1)).toEqual(faultsOf(free, 1));
  expect(faultsOf(free, 1)).not.toEqual(faultsOf(free, 2));
});

test("servers on etcd get faults of their own and of their etcd, and no others", () => {
  const options = parseOptions(["--etcd-members", "3"])!;
  const names = new Set(
    Array.from({ length: 50 }, (_, seed) => faultsOf(options, seed).map(({ name }) => name)).flat(),
  );
  for (const name of ["kill-one", "clock-ahead", "etcd-kill-leader", "etcd-compact"].filter(isPossible)) {
    expect(names).toContain(name);
  }
  expect(names).not.toContain("transfer-leader");
});

test("serving processes have faults of their own", () => {
  const chosen = (args: string[]) => {
    const options = parseOptions(args)!;
    return new Set(Array.from({ length: 100 }, (_, seed) => faultsOf(options, seed).map(({ name }) => name)).flat());
  };
  for (const name of ["kill-serving", "pause-serving"]) {
    expect(chosen(["--serving-processes", "2"])).toContain(name);
    expect(chosen([])).not.toContain(name);
    expect(() => parseOptions(["--faults", name])).toThrow("needs --serving-processes");
  }
});

/** Some classes need a tool. */
function isPossible(name: string): boolean {
  const fault = faultNamed(name) as Fault;
  return whyNot(fault, sizeFor(fault)) === undefined;
}

test.each([
  [["--seed", "x"], "--seed: x is not a whole number"],
  [["--time", "0"], "--time: 0 is not"],
  [["--members", "8"], "from 1 to 7"],
  [["--etcd-members", "6"], "from 0 to 5"],
  [["--etcd-members", "1", "--serving-processes", "1"], "servers on etcd have none"],
  [["--etcd-members", "1", "--control", "no-sync"], "no-sync needs a store of our own"],
  [["--control", "no-barrier"], "no-barrier needs --etcd-members"],
  [["--etcd-members", "3", "--faults", "kill-leader"], "servers on etcd form no cluster"],
  [["--etcd-members", "1", "--faults", "etcd-kill-leader"], "needs --etcd-members 3"],
  [["--faults", "etcd-kill-one"], "needs --etcd-members 1"],
  [["--faults", "flood"], "there is no flood"],
  [["--faults", "kill-leader", "--members", "1"], "kill-leader cannot be run here: needs 3 members"],
  [["--what"], "--what"],
])("%j is rejected: %s", (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError);
  expect(() => parseOptions(args)).toThrow(message);
});
