import { expect, test } from "bun:test";
import { put } from "../../test/contract/store-commands.ts";
import { OutstandingCommands } from "./outstanding-commands.ts";
import { StoreUnavailableError } from "./store.ts";

const commandsMax = 20_000;
const full = { code: 429, reason: "TooManyRequests" };

test("commands beyond the limit are refused until one is answered", () => {
  const outstanding = new OutstandingCommands();
  const small = put("/registry/a", "x");
  const sizes = Array.from({ length: commandsMax }, () => outstanding.accept(small));
  expect(() => outstanding.accept(small)).toThrow(expect.objectContaining(full));
  outstanding.answered(sizes[0] as number);
  expect(outstanding.accept(small)).toBe(sizes[0] as number);
});

test("bytes beyond the limit are refused until some are answered", () => {
  const outstanding = new OutstandingCommands();
  const large = put("/registry/a", "x".repeat(50_000_000));
  const bytes = outstanding.accept(large);
  outstanding.accept(large);
  expect(() => outstanding.accept(large)).toThrow(expect.objectContaining(full));
  outstanding.answered(bytes);
  outstanding.accept(large);
});

test("it is idle when all commands are answered, also after it is closed", async () => {
  const outstanding = new OutstandingCommands();
  const bytes = outstanding.accept(put("/registry/a", "x"));
  const closed = new StoreUnavailableError("closed");
  outstanding.close(closed);
  expect(() => outstanding.accept(put("/registry/a", "x"))).toThrow(closed);
  let isIdle = false;
  const idle = outstanding.idle().then(() => (isIdle = true));
  await Promise.resolve();
  expect(isIdle).toBe(false);
  outstanding.answered(bytes);
  await idle;
});
