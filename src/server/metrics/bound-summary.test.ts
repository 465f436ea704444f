import { expect, test } from "bun:test";
import { ManualClock } from "../../storage/cacher/testing.ts";
import { BoundSummary } from "./bound-summary.ts";

const hourMs = 3_600_000;

function setUp() {
  const clock = new ManualClock();
  const summary = new BoundSummary("s", "help", clock);
  const child = summary.labels({ type: "a" });
  const values = () => [...summary.text()].join("").trimEnd().split("\n");
  const quantile = (of: string) =>
    Number(
      values()
        .find((line) => line.includes(`quantile="${of}"`))
        ?.split(" ")[1],
    );
  return { clock, child, values, quantile };
}

test("quantiles are at most 5 % off", () => {
  const { child, quantile } = setUp();
  for (let at = 1; at <= 1_000; at++) child.observe(at / 1_000);
  for (const of of ["0.5", "0.9", "0.99"]) expect(Math.abs(quantile(of) / Number(of) - 1)).toBeLessThan(0.05);
});

test("values of more than five hours ago count for the sum alone", () => {
  const { clock, child, values, quantile } = setUp();
  child.observe(8);
  clock.advance(4 * hourMs);
  child.observe(2);
  expect(quantile("0.99")).toBeGreaterThan(7);
  clock.advance(2 * hourMs);
  expect(quantile("0.99")).toBeLessThan(3);
  expect(values().slice(-2)).toEqual(['s_sum{type="a"} 10', 's_count{type="a"} 2']);
});

test("without values there is no quantile", () => {
  expect(setUp().quantile("0.5")).toBeNaN();
});
