import { expect, test } from "bun:test";
import { RecentCommands } from "./recent-commands.ts";
import type { ApplyResult, Entry } from "./store.ts";

function answer(bytes: number): ApplyResult {
  return { kind: "rejected", current: { body: new Uint8Array(bytes) } as unknown as Entry };
}

test("the oldest id is forgotten at the bound", () => {
  const recent = new RecentCommands(2, 1_000);
  for (const id of ["a", "b", "c"]) recent.remember(id, answer(1));
  expect([recent.ids(), recent.has("a"), recent.has("c")]).toEqual([["b", "c"], false, true]);
});

test("beyond its bytes a result is forgotten but its id is not", () => {
  const recent = new RecentCommands(10, 100);
  const last = answer(80);
  recent.remember("a", answer(30));
  recent.remember("b", last);
  expect([recent.has("a"), recent.result("a"), recent.result("b")]).toEqual([true, undefined, last]);
});

test("what a forgotten id held is free again", () => {
  const recent = new RecentCommands(1, 100);
  for (let turn = 0; turn < 5; turn++) recent.remember(`${turn}`, answer(80));
  expect(recent.result("4")).toBeDefined();
});

test("a result larger than the bound is not held, and nothing breaks", () => {
  const recent = new RecentCommands(10, 100);
  recent.remember("a", answer(500));
  recent.remember("b", answer(50));
  expect([recent.has("a"), recent.result("a")]).toEqual([true, undefined]);
  expect(recent.result("b")).toBeDefined();
});
