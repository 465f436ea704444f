import { expect, spyOn, test } from "bun:test";
import { SlicedWork } from "./sliced-work.ts";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("computations run one after the other, and one that fails stops no other", async () => {
  const said: unknown[] = [];
  using work = new SlicedWork((error) => void said.push(error));
  const steps = (name: string) =>
    function* () {
      for (let step = 1; step <= 2; step++) {
        said.push(`${name}${step}`);
        yield;
      }
      if (name === "b") throw name;
    };
  for (const name of ["a", "b", "c"]) work.add(steps(name));
  expect(said).toEqual([]);
  for (let turns = 0; turns < 10; turns++) await turn();
  expect(said).toEqual(["a1", "a2", "b1", "b2", "b", "c1", "c2"]);
});

test("a stop ends the computation", async () => {
  let steps = 0;
  const work = new SlicedWork(() => {});
  work.add(function* () {
    for (;;) {
      steps++;
      if (steps === 3) work[Symbol.dispose]();
      yield;
    }
  });
  for (let turns = 0; turns < 5; turns++) await turn();
  expect(steps).toBe(3);
});

test("a stop between two slices ends the computation", async () => {
  let nowMs = 0;
  using _clock = spyOn(performance, "now").mockImplementation(() => (nowMs += 100));
  let steps = 0;
  const work = new SlicedWork(() => {});
  work.add(function* () {
    for (;;) {
      steps++;
      yield;
    }
  });
  await turn();
  const before = steps;
  work[Symbol.dispose]();
  for (let turns = 0; turns < 5; turns++) await turn();
  expect([before > 0, steps]).toEqual([true, before]);
});
