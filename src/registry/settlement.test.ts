import { expect, test } from "bun:test";
import { status } from "../api/status.ts";
import { Settlement } from "./settlement.ts";

const refused = status.badRequest("no");
const down = new Error("the disk is gone");

test.each([
  ["a stored result is stored", () => Promise.resolve(true), "stored"],
  ["another result is not", () => Promise.resolve(false), "notStored"],
  ["a refusal is not", () => Promise.reject(refused), "notStored"],
  ["a failure leaves it unknown", () => Promise.reject(down), "unknown"],
] as const)("%s", async (_, attempt, outcome) => {
  const settlement = new Settlement();
  const heard: string[] = [];
  settlement.add(async (how) => void heard.push(how));
  await settlement.run<boolean>(attempt, (stored) => stored).catch(() => {});
  expect(heard).toEqual([outcome]);
});

test("a listener that fails changes nothing about the write, and the others hear of it", async () => {
  const settlement = new Settlement();
  const heard: string[] = [];
  settlement.add(() => Promise.reject(down));
  settlement.add((how) => void heard.push(how));
  expect(
    await settlement.run(
      async () => 7,
      () => true,
    ),
  ).toBe(7);
  expect(heard).toEqual(["stored"]);
});

test("a listener is called for its own attempt only", async () => {
  const settlement = new Settlement();
  const heard: string[] = [];
  settlement.add((how) => void heard.push(how));
  await settlement.run(async () => false, Boolean);
  await settlement.run(async () => true, Boolean);
  expect(heard).toEqual(["notStored"]);
});
