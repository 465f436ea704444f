import { expect, test } from "bun:test";
import { EventCorrelator, type Occurrence } from "./event-correlator.ts";

const occurrence = (message: string, name = "a"): Occurrence => ({
  about: { apiVersion: "v1", kind: "Pod", namespace: "n", name, uid: `uid-${name}` },
  type: "Normal",
  reason: "Tested",
  message,
});

test("an Event that occurs again has the name of the first one and a higher count", () => {
  const correlator = new EventCorrelator();
  const first = correlator.correlate(occurrence("x"), 1_000);
  const second = correlator.correlate(occurrence("x"), 5_000);
  expect(first).toMatchObject({ count: 1, firstMs: 1_000, lastMs: 1_000 });
  expect(second).toEqual({ ...first, count: 2, lastMs: 5_000 } as never);
});

test("Events about different objects have different names, also in the same millisecond", () => {
  const correlator = new EventCorrelator();
  const names = ["a", "b", "a"].map((name, at) => correlator.correlate(occurrence(`${at}`, name), 1_000)?.name);
  expect(new Set(names).size).toBe(3);
  expect(names[0]).toMatch(/^a\.[0-9a-f]+$/);
});

test("from the tenth message on, those that differ only in it are combined", () => {
  const correlator = new EventCorrelator();
  const events = Array.from({ length: 12 }, (_, at) => correlator.correlate(occurrence(`message ${at}`), 1_000 + at));
  expect(events.slice(0, 9).every((event) => event?.count === 1 && !event.message.startsWith("("))).toBe(true);
  expect(events.slice(9).map((event) => [event?.message, event?.count])).toEqual([
    ["(combined from similar events): message 9", 1],
    ["(combined from similar events): message 10", 2],
    ["(combined from similar events): message 11", 3],
  ]);
  expect(new Set(events.slice(9).map((event) => event?.name)).size).toBe(1);
  expect(correlator.correlate(occurrence("later"), 700_000)?.message).toBe("later");
});

test("an object gets 25 Events at once, and then one in five minutes", () => {
  const correlator = new EventCorrelator();
  const count = (nowMs: number) =>
    Array.from({ length: 40 }, () => correlator.correlate(occurrence("x"), nowMs)).filter(Boolean).length;
  expect(count(0)).toBe(25);
  expect(correlator.correlate(occurrence("x", "other"), 0)?.count).toBe(1);
  expect(count(299_999)).toBe(0);
  expect(count(600_000)).toBe(2);
});

test("objects that were not heard of for long are forgotten", () => {
  const correlator = new EventCorrelator();
  correlator.correlate(occurrence("x"), 0);
  for (let at = 0; at < 5_000; at++) correlator.correlate(occurrence("x", `other-${at}`), 1);
  expect(correlator.correlate(occurrence("x"), 2)?.count).toBe(1);
});
