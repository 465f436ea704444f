import { expect, test } from "bun:test";
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

test.each([
  [["--seed", "x"], "--seed: x is not a whole number"],
  [["--time", "0"], "--time: 0 is not"],
  [["--members", "8"], "from 1 to 7"],
  [["--faults", "flood"], "there is no flood"],
  [["--faults", "kill-leader", "--members", "1"], "kill-leader cannot be run here: needs 3 members"],
  [["--what"], "--what"],
])("%j is rejected: %s", (args, message) => {
  expect(() => parseOptions(args)).toThrow(UsageError);
  expect(() => parseOptions(args)).toThrow(message);
});
