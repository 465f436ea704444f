import { expect, test } from "bun:test";
import { put } from "../../test/contract/store-commands.ts";
import { MemoryStore } from "../storage/memory-store.ts";
import { takeOver } from "./takeover.ts";
import { RetryError } from "./work-queue.ts";

test("a write of the leader before is refused, whether it knows of the takeover or not", async () => {
  const store = new MemoryStore();
  let lost = 0;
  const before = await takeOver(store, "parts", () => lost++);
  const late = { ...put("/a", "1"), premises: [before()] };
  expect((await store.commit(late)).kind).toBe("applied");
  const now = await takeOver(store, "parts", () => {});
  expect((await store.commit(late)).kind).toBe("outdated");
  expect(before).toThrow(new RetryError("another leader has taken over parts"));
  expect(lost).toBe(1);
  expect((await store.commit({ ...put("/a", "2"), premises: [now()] })).kind).toBe("applied");
});
