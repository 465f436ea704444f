import { afterEach, expect, type Mock, spyOn, test } from "bun:test";
import { celTypes, compile, isError, jsonValue, type Outcome, Program, storedEnvironment, toJson } from "../index.ts";

const list = Array.from({ length: 150 }, (_, at) => ({ n: at, s: `name-${at % 7}` }));
const map = Object.fromEntries(list.map(({ n, s }) => [`key-${n}`, s]));
const object = jsonValue({ list, map, ints: list.map(({ n }) => n) });
const environment = storedEnvironment().extend({ variables: new Map([["object", celTypes.dynType]]) });

let clock: Mock<typeof performance.now> | undefined;
afterEach(() => clock?.mockRestore());

/** Makes every stretch as short as it can be. */
function hurry(): void {
  let nowMs = 0;
  clock = spyOn(performance, "now").mockImplementation(() => {
    nowMs += 100;
    return nowMs;
  });
}

function shown({ value, cost }: Outcome): unknown {
  return { value: isError(value) ? value.message : toJson(value), cost };
}

test.each([
  "object.ints.all(x, object.ints.exists(y, x + y > 100) || x < 200)",
  "object.ints.filter(x, x % 3 == 0).map(x, object.ints.filter(y, y < x).size())",
  "object.list.map(x, x.s).filter(s, object.list.exists_one(y, y.s + string(y.n) == s + '3')).size()",
  "object.ints.all(x, x >= 0) && object.ints.exists(x, x == 149) && object.ints.map(x, x * 2).all(x, x % 2 == 0)",
  "object.map.all(k, object.map[k].startsWith('name')) ? object.map.filter(k, k.endsWith('9')).size() : -1",
  "object.map.transformMap(k, v, k + v).size() + object.list.transformList(i, v, i + v.n).size()",
  "object.ints.filter(x, x > 10).sortBy(x, -x).map(x, object.ints.filter(y, y < x).sortBy(y, -y).size())",
  "[object.ints.map(x, x + 1), object.ints.map(x, x + 2).filter(x, x % 2 == 0)].map(l, l.map(x, x * x).size())",
  "object.ints.sortBy(x, object.ints.filter(y, y > x).size()).map(x, x)",
  "object.ints.map(x, object.none)",
  "object.ints.all(x, object.ints.all(y, object.ints.all(z, x + y + z >= 0)))",
  "object.list[object.ints.filter(x, x == 40)[0]].s + {'a': object.ints.filter(x, x > 140)}['a'].map(x, string(x)).join()",
])("%s pauses without a trace", (text) => {
  const program = Program.of(compile(text, environment));
  const activation = { resolve: (name: string) => (name === "object" ? object : undefined) };
  const atOnce = program.evaluate(activation);
  hurry();
  const steps = program.start(activation).inStretches();
  let pauses = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) pauses++;
  expect(shown(step.value)).toEqual(shown(atOnce));
  expect(pauses).toBeGreaterThan(0);
});
